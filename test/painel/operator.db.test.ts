/** What an operator changes on the page: who may, with which reason, and what it does. */
import { expect, test } from 'vitest';
import { eraseAll } from '../../src/core/workers/erase.ts';
import { useSubscriber } from '../support/delivery-world.ts';
import { untilSettled } from '../support/settled.ts';
import { formTokenIn, READER, startPainelWorld } from '../support/painel.ts';

const UNKNOWN = '01a20695-2722-7d59-8fa9-fac65cb65709';

const world = await startPainelWorld();
const { sql } = world.api.database;
const operator = await world.signedIn(undefined, ['operador']);
const { partner, webhook } = useSubscriber(world);

const webhookPage = () => `/painel/operacao/webhooks/${webhook.id}`;
const partnerPage = () => `/painel/operacao/parceiros/${partner.id}`;
const submit = (page: string, act: string, fields: Readonly<Record<string, string>>) =>
  operator.submit(page, `${page}/${act}`, fields);
test('the page says when no registry is configured, and is silent about one that is', async () => {
  const bare = await startPainelWorld({ registry: null, margins: null });
  const visitor = await bare.signedIn(undefined, ['operador']);
  const reported = 'Nenhum registry está configurado (REGISTRY_URL)';
  expect((await visitor.get('/painel/operacao')).text).toContain(reported);
  expect((await operator.get('/painel/operacao')).text).not.toContain(reported);
});

test('a webhook is muted, unmuted and capped with a reason, which its page shows as text', async () => {
  const page = webhookPage();
  const muted = await submit(page, 'silenciar', { motivo: 'responde <b>500</b> a tudo' });
  expect([muted.status, muted.headers.get('location')]).toEqual([303, `${page}?feito=silenciado`]);
  const { text } = await operator.get(`${page}?feito=silenciado`);
  expect(text).toContain('silenciado desde');
  expect(text).toContain('responde &lt;b&gt;500&lt;/b&gt; a tudo');
  expect((await operator.get('/painel/operacao')).text).toContain(`href="${page}"`);
  const again = await submit(page, 'silenciar', { motivo: 'de novo' });
  expect([again.status, again.text.includes('já está silenciado')]).toEqual([409, true]);
  expect((await submit(page, 'reabrir', { motivo: 'corrigido' })).headers.get('location')).toBe(
    `${page}?feito=reaberto`,
  );
  const capped = await submit(page, 'limite', { limite: '3', motivo: 'aguenta menos' });
  expect(capped.headers.get('location')).toBe(`${page}?feito=limite`);
  expect((await operator.get(page)).text).toContain('de 64 para 3: aguenta menos');
  const noReason = await submit(page, 'silenciar', { motivo: '' });
  expect([noReason.status, noReason.text.includes('<code>motivo</code>: ')]).toEqual([400, true]);
  for (const limite of ['0', '1.5', 'x', '']) expect((await submit(page, 'limite', { limite })).status).toBe(400);
});

test('its URL is shown without the query, and its partner’s words as text', async () => {
  await sql`update webhooks set url = 'https://one.example/x?token=geheim' where id = ${webhook.id}`;
  await sql`update partners set name = '<img src=x onerror=alert(1)>' where id = ${partner.id}`;
  for (const page of [webhookPage(), partnerPage()]) {
    const { text } = await operator.get(page);
    expect(text).not.toMatch(/geheim|<img src=x/);
    expect(text).toContain('&lt;img src=x');
  }
});

test('what is many is a page further: a history, the webhooks of a partner, the muted ones', async () => {
  await sql`
    insert into webhook_history (webhook_id, partner_id, url, events, active, change, actor)
    select ${webhook.id}, ${partner.id}, 'https://x.example/', '{}', true, 'limite', 'operador:ana' from generate_series(1, 150)`;
  await sql`
    insert into webhooks (id, partner_id, url, events, encrypted_secret)
    select uuidv7(), partner_id, 'https://many.example/', events, encrypted_secret
    from webhooks, generate_series(1, 120) where id = ${webhook.id}`;
  await sql`update lanes set muted_at = now() where partner_id = ${partner.id}`;
  for (const [page, cursor, row] of [
    [webhookPage(), 'antes', /<code>(limite|criacao)<\/code>/g],
    [partnerPage(), 'depois', /href="\/painel\/operacao\/webhooks\/[^"]+"/g],
    ['/painel/operacao', 'depois', /href="\/painel\/operacao\/webhooks\/[^"]+"/g],
  ] as const) {
    const { text } = await operator.get(page);
    const [, more = ''] = new RegExp(`rel="next" href="([^"]+[?]${cursor}=[^"]+)"`).exec(text) ?? [];
    const next = await operator.get(more);
    expect([page, next.status, next.text.includes('rel="next"')]).toEqual([page, 200, false]);
    const rows = [...(text.match(row) ?? []), ...(next.text.match(row) ?? [])].length;
    expect([page, rows]).toEqual([page, row.source.includes('criacao') ? 151 : 121]);
  }
  await sql`update lanes set muted_at = null where partner_id = ${partner.id}`;
});

test('a partner is let go with a reason, once', async () => {
  const own = await world.signedIn(partner.id, READER);
  expect((await submit(partnerPage(), 'desligar', { motivo: '' })).status).toBe(400);
  const done = await submit(partnerPage(), 'desligar', { motivo: 'contrato encerrado' });
  expect([done.status, done.headers.get('location')]).toEqual([303, `${partnerPage()}?feito=desligado`]);
  expect((await own.get('/painel/entregas')).headers.get('location')).toContain('motivo=fim');
  const { text } = await operator.get(partnerPage());
  expect(text).toContain('contrato encerrado');
  expect(text).not.toContain(`${partnerPage()}/desligar`);
  const formulario = formTokenIn((await operator.get(webhookPage())).text);
  const again = await operator.post(`${partnerPage()}/desligar`, { motivo: 'x', formulario });
  expect([again.status, again.text.includes('já está inativo')]).toEqual([409, true]);
});

test('a delivery is found by its id, and the page says why it waits, with what proves it', async () => {
  await submit(webhookPage(), 'silenciar', { motivo: 'x' });
  await partner.emit();
  const [{ id }] = await world.api.database.sql<[{ id: string }]>`
    select id from deliveries where webhook_id = ${webhook.id}`;
  const found = await operator.get(`/painel/operacao/abrir?id=${id}`);
  expect(found.headers.get('location')).toBe(`/painel/operacao/entregas/${id}`);
  const { text } = await operator.get(`/painel/operacao/entregas/${id}`);
  expect(text).toContain('O operador silenciou o webhook');
  expect(text).toContain(`href="${webhookPage()}"`);
  await operator.post('/painel/preferencias', { idioma: 'en', volta: '/painel' });
  expect((await operator.get(`/painel/operacao/entregas/${id}`)).text).toContain('An operator muted its webhook');
  await operator.post('/painel/preferencias', { idioma: 'pt', volta: '/painel' });
  const own = await world.signedIn(partner.id);
  expect((await own.get(`/painel/entregas/${id}`)).text).toContain('O operador silenciou o webhook');
  expect((await own.get(`/painel/operacao/entregas/${id}`)).status).toBe(403);
});

test('the jobs stand on the page with their last run, and one that failed says what it printed', async () => {
  const { sql } = world.api.database;
  await sql`
    insert into scheduled_jobs (name, schedule, next_at, started_at, ended_at, exit_code, result) values
      ('verify', '0 3 * * *', now() + interval '1 hour', now() - interval '90 seconds', now(), 1, '3 findings'),
      ('balance', '30 2 * * *', now() - interval '2 hours', null, null, null, null), ('anchor', null, null, null, null, null, null)`;
  const { text } = await operator.get('/painel/operacao');
  const rowOf = (job: string) => text.split('<tr>').find((row) => row.includes(`<code>${job}</code>`)) ?? '';
  expect(rowOf('verify')).toMatch(/terminou com 1[\s\S]*3 findings[\s\S]*90\.0 s/);
  expect(rowOf('balance')).toContain('atrasada');
  expect(rowOf('anchor')).toContain('desligada');
});

test('an id is found, whether it is a webhook’s or a partner’s; an unknown one is 404 everywhere', async () => {
  const open = async (id: string) => (await operator.get(`/painel/operacao/abrir?id=${id}`)).headers.get('location');
  expect(await open(webhook.id)).toBe(webhookPage());
  expect(await open(` ${partner.id.toUpperCase()} `)).toBe(partnerPage());
  expect((await operator.get("/painel/operacao/abrir?id=x' or 1=1")).status).toBe(404);
  const formulario = formTokenIn((await operator.get(webhookPage())).text);
  for (const kind of ['webhooks', 'parceiros', 'entregas']) {
    expect((await operator.get(`/painel/operacao/${kind}/${UNKNOWN}`)).status).toBe(404);
  }
  for (const act of ['webhooks/ID/silenciar', 'webhooks/ID/reabrir', 'webhooks/ID/limite', 'parceiros/ID/desligar']) {
    const path = `/painel/operacao/${act.replace('ID', UNKNOWN)}`;
    expect([act, (await operator.post(path, { formulario, motivo: 'x', limite: '3' })).status]).toEqual([act, 404]);
  }
});

test('nobody else changes anything: no other scope, no other site, no form of another session', async () => {
  const acts = [`${webhookPage()}/silenciar`, `${webhookPage()}/limite`, `${partnerPage()}/desligar`];
  const auditor = await world.signedIn(undefined, ['auditoria:read']);
  const own = await world.signedIn(partner.id, ['webhooks:read', 'webhooks:write', 'operador']);
  const fields = { motivo: 'x', limite: '3' };
  const formulario = formTokenIn((await operator.get(webhookPage())).text);
  for (const path of acts) {
    const auditors = formTokenIn((await auditor.get('/painel/auditoria/selos')).text);
    expect((await auditor.post(path, { ...fields, formulario: auditors })).status).toBe(403);
    const partners = formTokenIn((await own.get('/painel/webhooks')).text);
    expect((await own.post(path, { ...fields, formulario: partners })).status).toBe(403);
    expect((await operator.post(path, fields)).status).toBe(403);
    const foreign = { 'Sec-Fetch-Site': 'cross-site' };
    expect((await operator.post(path, { ...fields, formulario }, foreign)).status).toBe(403);
    expect((await world.visitor().post(path, { ...fields, formulario })).headers.get('location')).toContain('entrar');
  }
  for (const path of [webhookPage(), partnerPage()]) expect((await own.get(path)).status).toBe(403);
  const [row] = await sql`
    select (select count(*)::int from webhook_history where webhook_id = ${webhook.id}) as webhook,
           (select count(*)::int from partner_history where partner_id = ${partner.id}) as partner`;
  expect(row).toEqual({ webhook: 1, partner: 0 });
});

test('a worker is erased on a page of its own, with a reason, and the order is shown until it is done', async () => {
  const page = '/painel/operacao/apagamentos';
  const data = { autorizacao_id: UNKNOWN, cpf_trabalhador: '52998224725', status: 'confirmada', origem: 'web' };
  await sql`select append_event(${UNKNOWN}, 0, 'autorizacao.confirmada', ${partner.id}, ${JSON.stringify(data)}::text::json, 'core')`;
  await world.deliver();
  await untilSettled(sql);
  expect((await operator.get('/painel/operacao')).text).toContain(`href="${page}"`);
  const wrong = await operator.submit(page, page, { cpf: '529.982.247-26', motivo: 'pedido' });
  expect([wrong.status, wrong.text.includes('CPF inválido')]).toEqual([400, true]);
  expect(wrong.text).toMatch(
    /<details class="confirm" open>[^]*name="cpf" value="529.982.247-26"[^>]*aria-invalid="true"[^]*value="pedido"/,
  );
  const given = await operator.submit(page, page, {
    cpf: '529.982.247-25',
    motivo: 'pedido <b>dele</b>',
    ordem_judicial: '',
  });
  expect([given.status, given.headers.get('location')]).toEqual([303, `${page}?feito=apagado`]);
  const { text } = await operator.get(`${page}?feito=apagado`);
  expect(text).toContain('pedido &lt;b&gt;dele&lt;/b&gt;');
  expect(text).toContain('em andamento');
  expect(text).toContain(`hx-get="${page}"`);
  expect(text).not.toContain('52998224725');
  await eraseAll(world.api.database.pool);
  expect((await operator.get(page)).text).toContain('1 evento apagado');
  const [sent] = await sql<[{ id: string; event: string }]>`
    select id, event_id as event from deliveries where webhook_id = ${webhook.id}`;
  const visitor = await world.signedIn(partner.id, ['webhooks:read', 'webhooks:write']);
  const delivery = await visitor.get(`/painel/entregas/${sent.id}`);
  expect(delivery.text).not.toContain('os mesmos em cada tentativa');
  expect(delivery.text).not.toContain('/reenvio"');
  for (const { text: read } of [delivery, await visitor.get(`/painel/eventos/${sent.event}`)]) {
    expect(read).toContain('Os dados deste evento foram apagados');
    expect(read).not.toContain('52998224725');
  }
});
