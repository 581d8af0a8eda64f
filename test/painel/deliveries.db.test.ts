/** Deliveries on the page: found, read whole, sent again; nothing of another partner, and no markup of a stranger. */
import { execFileSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { sealAndSign } from '../support/checkpoint.ts';
import { formTokenIn, READER, startPainelWorld, unescaped } from '../support/painel.ts';
import { status } from '../support/receiver.ts';
import { untilSettled } from '../support/settled.ts';

const world = await startPainelWorld();

/** A partner whose one delivery was refused by a receiver that answers markup. */
async function refusedDelivery(answer = '<script>alert(1)</script>" onmouseover="alert(2)') {
  const partner = await world.subscriber();
  const webhook = await partner.register();
  world.receiver.answerWith(status(503, answer), webhook.path);
  const loanId = await partner.emit();
  await world.deliver();
  const [row] = await world.api.database.sql<[{ id: string; eventId: string }]>`
    select id, event_id as "eventId" from deliveries where webhook_id = ${webhook.id}`;
  return { partner, webhook, loanId, ...row };
}

describe('the list', () => {
  test('shows what was sent, why it failed and when it is tried next', async () => {
    const { partner, id, webhook } = await refusedDelivery();
    const { text } = await (await world.signedIn(partner.id)).get('/painel/entregas');
    expect(text).toContain(`/painel/entregas/${id}`);
    expect(text).toContain('resposta não 2xx 503');
    expect(text).toContain('Próxima tentativa');
    expect(text).toContain(webhook.path);
    const file = /href="(\/painel\/entregas\/exportar[^"]*)"/.exec(text)?.[1] ?? '';
    const csv = await (await world.signedIn(partner.id)).get(unescaped(file));
    expect(csv.text.split('\r\n')[1]).toContain(`${id},${webhook.id},`);
  });

  test('says once that a delivery arrived', async () => {
    const partner = await world.subscriber();
    await partner.register();
    await partner.emit();
    await world.deliver();
    const { text } = await (await world.signedIn(partner.id)).get('/painel/entregas');
    expect(text.match(/class="badge[^>]*>[^<]*/g)).toEqual(['class="badge badge-entregue">entregue 200']);
  });

  test('is filtered by everything that the form offers, and tells a filter that is none', async () => {
    const { partner, id, loanId, webhook } = await refusedDelivery();
    const visitor = await world.signedIn(partner.id);
    const fits = [`webhook=${webhook.id}`, `emprestimo_id=${loanId}`, 'evento=desembolso.falhou', 'status=pendente'];
    fits.push('resultado=resposta_nao_2xx', 'status_http=503', 'desde=2020-01-01T00:00', 'ate=2999-12-31');
    for (const filter of fits) expect((await visitor.get(`/painel/entregas?${filter}`)).text).toContain(id);
    const mismatches = [
      'evento=averbacao.falhou',
      'status=erro',
      'resultado=erro_tls',
      'status_http=500',
      'ate=2020-01-01T00:00',
    ];
    for (const filter of mismatches) expect((await visitor.get(`/painel/entregas?${filter}`)).text).not.toContain(id);
    const wrong = await visitor.get('/painel/entregas?desde=ontem&status=nada');
    expect(wrong.status).toBe(400);
    expect(wrong.text).toContain('<code>desde</code>: deve ser uma data');
    expect(wrong.text).toMatch(/<input name="desde" value="ontem" aria-invalid="true"/);
  });

  test('offers each active webhook, however many were deactivated before it, and keeps the one that is chosen', async () => {
    const partner = await world.subscriber();
    const { sql } = world.api.database;
    const gone = await sql<{ id: string }[]>`
      insert into webhooks (id, partner_id, url, events, encrypted_secret, active)
      select uuidv7(), ${partner.id}, 'https://a.example', '{repasse.processado}', '', false from generate_series(1, 201)
      returning id`;
    const webhook = await partner.register();
    await partner.emit();
    const visitor = await world.signedIn(partner.id);
    expect((await visitor.get('/painel/entregas')).text).toContain(`<option value="${webhook.id}"`);
    const last = gone.at(-1)?.id ?? '';
    expect((await visitor.get(`/painel/entregas?webhook=${last}`)).text).toContain(`<option value="${last}"  selected`);
    expect((await visitor.get('/painel/webhooks?ativo=todos')).text).toContain(webhook.path);
    await untilSettled(sql);
    expect((await visitor.get('/painel/eventos')).text).toContain(webhook.path);
  });

  test('an id leads to the delivery, the event or the loan that it names, and to nobody else’s', async () => {
    const { partner, id, eventId, loanId } = await refusedDelivery();
    const visitor = await world.signedIn(partner.id);
    expect((await visitor.get(`/painel/entregas?id=${id}`)).headers.get('location')).toBe(`/painel/entregas/${id}`);
    expect((await visitor.get(`/painel/entregas?id=${loanId}`)).headers.get('location')).toContain(loanId);
    expect((await visitor.get(`/painel/entregas?id=${eventId}`)).headers.get('location')).toBe(
      `/painel/eventos/${eventId}`,
    );
    const stranger = await world.signedIn(await world.api.partner());
    for (const foreign of [id, eventId, loanId, 'nada']) {
      const seen = await stranger.get(`/painel/entregas?id=${foreign}`);
      expect(seen.status).toBe(404);
      expect(seen.text).toContain('não é de uma entrega');
    }
  });
});

describe('one delivery', () => {
  test('shows the bytes and the headers that the receiver got', async () => {
    const { partner, id, webhook } = await refusedDelivery();
    const [post] = world.postsTo(webhook.path);
    const text = unescaped((await (await world.signedIn(partner.id)).get(`/painel/entregas/${id}`)).text);
    expect(text).toContain(post?.body.toString());
    expect(text).toContain(`X-Webhook-Signature: ${String(post?.headers['x-webhook-signature'])}`);
    expect(text).toContain(`X-Webhook-Delivery: ${id}`);
    const second = Number(/webhook-timestamp: (\d+)/.exec(text)?.[1]);
    expect(Math.abs(second - Number(post?.headers['webhook-timestamp']))).toBeLessThanOrEqual(1);
    expect(text.match(/class="planned"/g)).toHaveLength(5);
  });

  test('what a receiver answers and what a partner registers is text, never markup', async () => {
    const partner = await world.subscriber();
    const url = `${world.receiver.url}/x?"><script>alert(3)</script>`;
    const { body: webhook } = await partner.send<{ id: string }>('POST', '/v1/webhooks', {
      url,
      eventos: ['desembolso.falhou'],
    });
    const headers = { 'x-hint': '</pre><script>alert(3)</script>' };
    world.receiver.answerWith(status(500, '</pre><script>alert(1)</script><img src=x onerror=alert(2)>', { headers }));
    await partner.emit();
    await world.deliver();
    world.receiver.answerWith(status(200));
    const visitor = await world.signedIn(partner.id);
    const list = (await visitor.get(`/painel/entregas?webhook=${webhook.id}`)).text;
    const id = /\/painel\/entregas\/([\w-]{36})/.exec(list)?.[1];
    const { text } = await visitor.get(`/painel/entregas/${id}`);
    expect(text).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
    for (const page of [list, text]) expect(page).not.toMatch(/<script>|<img src=x/);
    const searched = await visitor.get(
      `/painel/entregas?emprestimo_id=${encodeURIComponent('"><script>alert(4)</script>')}`,
    );
    expect(searched.text).not.toContain('<script>alert');
  });

  test('the curl that repeats it sends the same bytes, whatever quotes they hold', async () => {
    const { partner, id, webhook } = await refusedDelivery();
    const { text } = await (await world.signedIn(partner.id)).get(`/painel/entregas/${id}`);
    const command = unescaped(/id="curl-text"[^>]*><code>([\s\S]*?)<\/code>/.exec(text)?.[1] ?? '');
    expect(command).toMatch(/^curl /);
    // The words that a shell makes of it, one a line.
    const words = execFileSync('sh', [
      '-c',
      `show() { printf '%s\\n' "$@"; }; ${command.replace('curl', 'show')}`,
    ]).toString();
    expect(words).toContain(world.postsTo(webhook.path)[0]?.body.toString());
    expect(words).toContain(`${world.receiver.url}${webhook.path}`);
  });

  test('the curl and the headers name what a gateway demands, and show no secret of it', async () => {
    const { partner, id, webhook } = await refusedDelivery();
    await partner.send('PUT', `/v1/webhooks/${webhook.id}/credenciais`, {
      autorizacao: { tipo: 'bearer', token: 't0ken-91c2' },
      cabecalhos: { 'X-Api-Key': 'chave-7f3a' },
    });
    const text = unescaped((await (await world.signedIn(partner.id)).get(`/painel/entregas/${id}`)).text);
    expect(text).toContain('Authorization: Bearer ***********\nX-Api-Key: ***********');
    expect(text).toContain(`-H 'Authorization: Bearer TOKEN' \\\n  -H 'X-Api-Key: VALOR'`);
    expect(text).not.toMatch(/t0ken-91c2|chave-7f3a/);
  });

  test('is sent again by whoever may write, once asked', async () => {
    const { partner, id, webhook } = await refusedDelivery();
    const visitor = await world.signedIn(partner.id);
    const sent = await visitor.submit(`/painel/entregas/${id}`, `/painel/entregas/${id}/reenvio`);
    expect([sent.status, sent.headers.get('location')]).toEqual([303, `/painel/entregas/${id}?feito=reenvio`]);
    await world.deliver();
    expect(world.postsTo(webhook.path)).toHaveLength(2);
    await partner.send('PATCH', `/v1/webhooks/${webhook.id}`, { ativo: false });
    const late = await visitor.submit(`/painel/entregas/${id}`, `/painel/entregas/${id}/reenvio`);
    expect(late.status).toBe(409);
    expect(late.text).toContain('o webhook está inativo');

    const reader = await world.signedIn(partner.id, READER);
    const page = await reader.get(`/painel/entregas/${id}`);
    expect(page.text).not.toContain('/reenvio');
    const tried = await reader.post(`/painel/entregas/${id}/reenvio`, { formulario: formTokenIn(page.text) });
    expect(tried.status).toBe(403);
    expect(tried.text).toContain('webhooks:write');
  });

  test('its proof can be taken along, whole, and its sheet names the commands that check it', async () => {
    const { partner, id } = await refusedDelivery();
    const visitor = await world.signedIn(partner.id);
    const { headers, text } = await visitor.get(`/painel/entregas/${id}/prova`);
    expect(headers.get('content-disposition')).toContain(`prova-${id}.json`);
    expect(JSON.parse(text)).toMatchObject({ formato: 'carteiro-prova-2', entrega: { id }, retido: null });
    const sheet = (await visitor.get(`/painel/entregas/${id}/comprovante`)).text;
    for (const reported of [id, 'Checkpoint', 'sha256sum', 'openssl ts -verify', 'carteiro_audit.py check'])
      expect(sheet).toContain(reported);
    expect((await (await world.signedIn(await world.api.partner())).get(`/painel/entregas/${id}/prova`)).status).toBe(
      404,
    );
  });

  test('another partner’s is as unknown as one that never was', async () => {
    const { id } = await refusedDelivery();
    const stranger = await world.signedIn(await world.api.partner());
    const seen = await Promise.all(
      [id, '01a20695-2722-7d59-8fa9-fac65cb65709', 'nada'].map((one) => stranger.get(`/painel/entregas/${one}`)),
    );
    expect(seen.map(({ status: code }) => code)).toEqual([404, 404, 404]);
    const bare = seen.map(({ text }) => text.replaceAll(/[\w-]{36}|nada|volta" value="[^"]*"/g, ''));
    expect(new Set(bare).size).toBe(1);
  });
});

test('a delivery shows the checkpoint that its next attempt carries, once there is one', async () => {
  const { partner, id } = await refusedDelivery();
  const visitor = await world.signedIn(partner.id);
  const { pool, sql } = world.api.database;
  expect((await visitor.get(`/painel/entregas/${id}`)).text).not.toContain('checkpoint-text');
  await untilSettled(sql);
  await sealAndSign(pool);
  const { text } = await visitor.get(`/painel/entregas/${id}`);
  expect(text).toMatch(/carteiro\.test\/log \d+ [A-Za-z0-9+/]{43}=/);
  expect(text).toContain('href="/docs/verificacao"');
});
