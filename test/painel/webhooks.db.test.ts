/** Webhooks on the page: made, watched, tried out, given another secret, switched off and on. */
import { basename } from 'node:path';
import { describe, expect, test } from 'vitest';
import { published, snippetsFor } from '../../src/painel/webhooks/snippets.ts';
import { countHours } from '../../src/delivery/queue/maintenance/hour-counter.ts';
import { formTokenIn, READER, startPainelWorld, unescaped, type Visitor } from '../support/painel.ts';
import { status } from '../support/receiver.ts';
import { untilSettled } from '../support/settled.ts';

const world = await startPainelWorld({ testWaitMs: 0 });

const WHSEC = /whsec_[\w+/=]{43,44}/;

/** The hidden fields of the form that goes to `action`. */
function fieldsOf(text: string, action: string): Record<string, string> {
  const form = text.split('<form').find((part) => part.includes(`action="${action}"`)) ?? '';
  return Object.fromEntries(
    [...(form.split('</form>')[0]?.matchAll(/type="hidden" name="(\w+)" value="([^"]*)"/g) ?? [])].map(
      ([, name = '', value = '']) => [name, value],
    ),
  );
}

async function create(visitor: Visitor, url: string, events: readonly string[]) {
  const { text } = await visitor.get('/painel/webhooks/novo');
  const fields = new URLSearchParams({ ...fieldsOf(text, '/painel/webhooks'), url });
  for (const name of events) fields.append('eventos', name);
  const send = () => visitor.post('/painel/webhooks', fields as unknown as Record<string, string>);
  return { send, answer: await send() };
}

describe('a webhook', () => {
  test('is made with its secret shown once, however often the form is sent', async () => {
    const partnerId = await world.api.partner();
    const visitor = await world.signedIn(partnerId);
    const { answer, send } = await create(visitor, `${world.receiver.url}/novo`, [
      'desembolso.falhou',
      'averbacao.falhou',
    ]);
    expect(answer.status).toBe(200);
    expect(answer.text).toMatch(WHSEC);
    const again = await send();
    expect(again.text).not.toMatch(WHSEC);
    expect(again.text).toContain('já foi mostrado');
    const rows = await world.api.database.sql`select events from webhooks where partner_id = ${partnerId}`;
    expect(rows).toEqual([{ events: ['desembolso.falhou', 'averbacao.falhou'] }]);
    expect((await visitor.get('/painel/webhooks')).text).not.toMatch(WHSEC);
    expect(JSON.stringify(world.api.lines)).not.toMatch(WHSEC);
  });

  test('is refused with the field and the rule, and the form keeps what was written', async () => {
    const visitor = await world.signedIn(await world.api.partner());
    for (const url of ['javascript:alert(1)', 'ftp://x.example', '"><script>alert(1)</script>']) {
      const { answer } = await create(visitor, url, []);
      expect(answer.status).toBe(400);
      expect(answer.text).toContain('<code>url</code>');
      expect(answer.text).toContain('deve ter ao menos um evento');
      expect(answer.text).not.toContain('<script>alert');
      expect(answer.text).not.toMatch(/href="javascript/);
    }
  });

  test('is changed, and history knows by whom', async () => {
    const { id, visitor } = await world.member();
    const path = `/painel/webhooks/${id}/editar`;
    const { text } = await visitor.get(path);
    const fields = { ...fieldsOf(text, path), url: `${world.receiver.url}/outro`, eventos: 'averbacao.falhou' };
    const { status: code, headers } = await visitor.post(path, fields);
    expect([code, headers.get('location')]).toEqual([303, `/painel/webhooks/${id}?feito=alterado`]);
    const page = await visitor.get(`/painel/webhooks/${id}?feito=alterado`);
    expect(page.text).toContain('O webhook foi alterado.');
    expect(page.text).toContain('/outro');
    const wrong = await visitor.post(path, { ...fields, url: 'nada' });
    expect([wrong.status, wrong.text.includes('<code>url</code>')]).toEqual([400, true]);
  });

  test('is tried out, switched off, and on again with what waited', async () => {
    const { partner, id, path, visitor } = await world.member();
    const page = `/painel/webhooks/${id}`;
    const tried = await visitor.submit(page, `${page}/teste`);
    expect(tried.headers.get('location')).toMatch(/^\/painel\/entregas\/[\w-]{36}$/);
    await world.deliver();
    expect(world.postsTo(path).map(({ headers }) => headers['x-webhook-event'])).toEqual(['webhook.teste']);
    await partner.emit();
    expect((await visitor.submit(page, `${page}/desativar`)).headers.get('location')).toBe(`${page}?feito=desativado`);
    await world.deliver();
    expect(world.postsTo(path)).toHaveLength(1);
    expect((await visitor.get('/painel/webhooks?ativo=todos')).text).toContain('inativo');
    expect((await visitor.submit(page, `${page}/teste`)).status).toBe(409);
    await visitor.submit(page, `${page}/reativar`, { retomar: 'on' });
    await world.deliver();
    expect(world.postsTo(path)).toHaveLength(2);
  });

  test('is tried out with an example as it was edited, within its fields alone', async () => {
    const { id, path, visitor } = await world.member();
    const page = `/painel/webhooks/${id}/teste`;
    const evento = 'averbacao.falhou';
    const { text } = await visitor.get(`${page}?evento=${evento}`);
    expect(text).toContain('<code>data.erro</code>');
    const [, example = ''] = /<textarea[^>]*>\n([^<]+)<\/textarea/.exec(text) ?? [];
    const data = { ...(JSON.parse(unescaped(example)) as object), erro: 'margem </textarea> insuficiente' };
    const sent = await visitor.submit(page, page, { evento, data: JSON.stringify(data) });
    expect(sent.headers.get('location')).toMatch(/^\/painel\/entregas\/[\w-]{36}$/);
    await world.deliver();
    const [post] = world.postsTo(path);
    expect(post?.headers['x-webhook-test']).toBe('1');
    expect(JSON.parse(post?.body.toString() ?? '')).toMatchObject({ evento, data });
    const mismatches = [
      ['{"erro":', 'não é JSON'],
      [JSON.stringify({ ...data, erro: 5 }), '<code>data.erro</code>'],
      [JSON.stringify({ ...data, emprestimo_id: id }), 'num teste, deve ser o do exemplo'],
    ] as const;
    for (const [written, said] of mismatches) {
      const refused = await visitor.submit(page, page, { evento, data: written });
      expect([refused.status, refused.text.includes(said)]).toEqual([400, true]);
      expect(refused.text).toContain('aria-invalid="true"');
      expect(unescaped(refused.text)).toContain(written);
    }
    await world.deliver();
    expect(world.postsTo(path)).toHaveLength(1);
  });

  test('gets another secret step by step, and each step tells what comes next', async () => {
    const { id, visitor } = await world.member();
    const page = `/painel/webhooks/${id}`;
    const rotate = async (horas: string) => {
      const fields = fieldsOf((await visitor.get(page)).text, `${page}/segredo`);
      return visitor.post(`${page}/segredo`, { ...fields, horas });
    };
    expect((await rotate('4')).text).toMatch(WHSEC);
    const waiting = (await visitor.get(page)).text;
    expect(waiting).toContain('Um secret novo espera');
    expect(waiting).toMatch(/data-until="\d{4}-/);
    expect(waiting).not.toMatch(WHSEC);
    await visitor.submit(page, `${page}/segredo/descartar`);
    expect((await visitor.get(page)).text).toContain('Um secret assina sozinho.');
    await rotate('1');
    await visitor.submit(page, `${page}/segredo/ativar`);
    expect((await visitor.get(page)).text).toContain('e o anterior também');
    const early = await visitor.post(`${page}/segredo`, {
      formulario: formTokenIn(waiting),
      chave: 'outra',
      horas: '0',
    });
    expect([early.status, early.text.includes('ainda assina até')]).toEqual([409, true]);
    for (const sent of [{ chave: '\u0000' }, { chave: 'chave 😀' }, { horas: '9'.repeat(400) }]) {
      const fields = { formulario: formTokenIn(waiting), chave: 'outra', ...sent };
      expect((await visitor.post(`${page}/segredo`, fields)).status).toBe(409);
    }
    await visitor.submit(page, `${page}/segredo/encerrar`);
    expect((await rotate('0')).text).toMatch(WHSEC);
  });

  test('shows how it fares', async () => {
    const partner = await world.subscriber();
    const [good, bad, idle] = [
      await partner.register(),
      await partner.register(),
      await partner.register(['averbacao.falhou']),
    ];
    world.receiver.answerWith(status(500), bad.path);
    for (let made = 0; made < 3; made += 1) await partner.emit();
    await world.deliver();
    await untilSettled(world.api.database.sql);
    await countHours(world.api.database.pool);
    const visitor = await world.signedIn(partner.id);
    const { text } = await visitor.get('/painel/webhooks');
    const rowOf = (id: string) => text.split('<tr>').find((row) => row.includes(id)) ?? '';
    expect(rowOf(good.id)).toContain('bem');
    expect(rowOf(good.id)).toContain('3 / 3');
    expect(rowOf(bad.id)).toContain('3 falhas seguidas');
    expect(rowOf(bad.id)).toContain('<time');
    expect(rowOf(idle.id)).toContain('sem entregas');
  });

  test('is read by a reader and changed by a writer, and is unknown to every other partner', async () => {
    const partner = await world.subscriber();
    const { id } = await partner.register();
    const reader = await world.signedIn(partner.id, READER);
    const page = await reader.get(`/painel/webhooks/${id}`);
    expect(page.text).not.toContain('/teste"');
    const formulario = formTokenIn(page.text);
    const acts = [
      'editar',
      'desativar',
      'reativar',
      'teste',
      'segredo',
      'segredo/ativar',
      'segredo/descartar',
      'segredo/encerrar',
    ];
    for (const act of acts)
      expect((await reader.post(`/painel/webhooks/${id}/${act}`, { formulario })).status).toBe(403);
    expect((await reader.get('/painel/webhooks/novo')).status).toBe(403);

    const stranger = await world.signedIn(await world.api.partner());
    const foreign = formTokenIn((await stranger.get('/painel/webhooks')).text);
    for (const path of [`/painel/webhooks/${id}`, `/painel/webhooks/${id}/editar`]) {
      expect((await stranger.get(path)).status).toBe(404);
    }
    for (const act of acts) {
      const sent = { formulario: foreign, url: 'https://x.example', eventos: 'averbacao.falhou', chave: 'k' };
      expect((await stranger.post(`/painel/webhooks/${id}/${act}`, sent)).status).toBe(404);
    }
  });
});

test('the receiver to be copied is the published one, at the path of the webhook', () => {
  for (const { language, server, verifier } of snippetsFor("https://x.example/meu/'hook?a=1")) {
    expect([language, /\/meu\/(\\)?'hook["']/.test(server.code), server.code.includes('a=1')]).toEqual([
      language,
      true,
      false,
    ]);
    expect([language, verifier.code]).toEqual([language, published(basename(verifier.name))]);
  }
});

describe('the credentials of a receiver', () => {
  test('are set in a form that keeps what was written, shows no secret again, and removes them', async () => {
    const { partner, id, path, visitor } = await world.member();
    const page = `/painel/webhooks/${id}`;
    expect((await visitor.get(page)).text).toContain('só as assinaturas');
    const fields = {
      tipo: 'basic',
      usuario: 'car:teiro',
      senha: 's3nha-c41b',
      nome1: 'X-Api-Key',
      valor1: 'chave-7f3a',
    };
    const wrong = await visitor.submit(`${page}/credenciais`, `${page}/credenciais`, fields);
    expect([wrong.status, wrong.text.includes('<code>autorizacao.usuario</code>')]).toEqual([400, true]);
    expect(wrong.text).toMatch(/name="usuario" value="car:teiro"[^>]*aria-invalid/);
    expect(wrong.text).toContain('value="X-Api-Key"');
    const set = await visitor.submit(`${page}/credenciais`, `${page}/credenciais`, { ...fields, usuario: 'carteiro' });
    expect(set.headers.get('location')).toBe(`${page}?feito=credenciais`);
    await partner.emit();
    await world.deliver();
    expect(world.postsTo(path).at(-1)?.headers).toMatchObject({
      authorization: `Basic ${Buffer.from('carteiro:s3nha-c41b').toString('base64')}`,
      'x-api-key': 'chave-7f3a',
    });
    const shown = (await visitor.get(page)).text;
    expect(shown).toContain('<code>X-Api-Key</code>');
    expect(shown).toContain('usuário e senha (Basic)');
    for (const { text } of [wrong, set, { text: shown }, await visitor.get(`${page}/credenciais`)])
      expect(text).not.toMatch(/s3nha-c41b|chave-7f3a/);
    // The form begins with what is set, but for secrets.
    expect((await visitor.get(`${page}/credenciais`)).text).toMatch(/value="X-Api-Key"/);
    await visitor.submit(page, `${page}/credenciais/remover`);
    await partner.emit();
    await world.deliver();
    expect(world.postsTo(path).at(-1)?.headers).not.toHaveProperty('authorization');
  });

  test.each([
    [{ tipo: 'bearer', token: 'abc' }, { tipo: 'bearer' }],
    [
      { tipo: 'oauth2', token_url: 'http://127.0.0.1:9/t', client_id: 'c', client_secret: 's', envio: 'corpo' },
      { tipo: 'oauth2', token_url: 'http://127.0.0.1:9/t', client_id: 'c', envio: 'corpo' },
    ],
  ])('of the kind $tipo are those of the API', async (fields, autorizacao) => {
    const { partner, id, visitor } = await world.member();
    const page = `/painel/webhooks/${id}/credenciais`;
    expect((await visitor.submit(page, page, fields as unknown as Record<string, string>)).status).toBe(303);
    expect((await partner.send('GET', `/v1/webhooks/${id}/credenciais`)).body).toMatchObject({ autorizacao });
  });
});

test('the page of a webhook says why its deliveries wait for a first 2xx, in a list and on its own page', async () => {
  const partner = await world.subscriber();
  const { id, path } = await partner.register();
  const { sql } = world.api.database;
  await sql`update webhooks set refusals = 0 where id = ${id}`;
  const visitor = await world.signedIn(partner.id);
  const page = async () => (await visitor.get(`/painel/webhooks/${id}`)).text;
  expect(await page()).toContain('até lá sai uma entrega por vez');
  world.receiver.answerWith(status(404), path);
  for (let count = 0; count < 12; count += 1) await partner.emit();
  await world.deliver();
  expect(await page()).toMatch(
    /em 10 tentativas: sai uma entrega por minuto até que responda. A próxima, depois de\s*<time/,
  );
  expect((await visitor.get('/painel/webhooks')).text).toContain('sem 2xx ainda');
  await sql`update webhooks set refusals = null, quiet_until = null where id = ${id}`;
  expect(await page()).not.toContain('2xx:');
});
