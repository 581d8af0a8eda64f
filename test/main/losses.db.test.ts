/** People are told of what is late, lost or taken by a stranger: an engine on an injected clock, a real chat, real answers. */
import { X509Certificate } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { beforeEach, expect, test } from 'vitest';
import { readConfig } from '../../src/config.ts';
import type { AlertSettings } from '../../src/contract/resources/alerts.ts';
import type { WebhookHealthResource } from '../../src/contract/resources/webhook-health.ts';
import type { ListedWebhook } from '../../src/contract/resources/webhook.ts';
import { countHours } from '../../src/delivery/queue/maintenance/hour-counter.ts';
import { createSender } from '../../src/delivery/sending/send.ts';
import { openAlerts } from '../../src/main/maintenance/alerts.ts';
import { ReceiverCertificates } from '../../src/webhooks/certificates.ts';
import { type Registered, startDeliveryWorld, type Subscriber } from '../support/delivery-world.ts';
import { endOf } from '../support/ends.ts';
import { advance, startEngine } from '../support/engine.ts';
import { makeAuthority } from '../support/certificates.ts';
import { type Answer, hang, startReceiver, status } from '../support/receiver.ts';
import { silentLog } from '../support/silent-log.ts';
import { untilSettled } from '../support/settled.ts';

const world = await startDeliveryWorld();
const { pool, sql } = world.api.database;
const engine = startEngine(pool, { openSecret: (id, sealed) => world.api.vault.decrypt(id, sealed) });
/** A look comes within so long of a failure. */
const CHECK_MS = 5_000;
const config = readConfig({ PUBLIC_URL: 'https://carteiro.example.com' });
let alerts: Awaited<ReturnType<typeof openAlerts>>;
let partner: Subscriber;
let chat: string;

beforeEach(async () => {
  // Ahead of everything that a test commits.
  advance(engine, 3_600);
  alerts = await openAlerts(config, silentLog, () => new Date(engine.now.getTime() + CHECK_MS));
  endOf(() => alerts.close());
  partner = await world.subscriber();
  chat = await confirmed(partner);
});

/** The path of a chat that the partner has confirmed. */
async function confirmed({ id, send }: Subscriber): Promise<string> {
  const path = `/chat/${id}`;
  await send('PUT', '/v1/alertas', { slack_url: `${world.receiver.url}${path}` });
  await sql`update alert_addresses set confirmed_at = now(), code = null where partner_id = ${id}`;
  await sql`update alerts set due_at = null where partner_id = ${id}`;
  return path;
}
const textsAt = (path: string) =>
  world.postsTo(path).map(({ body }) => (JSON.parse(String(body)) as { text: string }).text);
async function deliver() {
  while ((await engine.poll()) > 0);
}

test('50 outages of 31 min to 15 h are told at once after the fourth failure, each that ends in erro again, and none twice', async () => {
  const outages: { readonly hook: Registered; readonly endsMin: number }[] = [];
  for (let n = 0; n < 50; n += 1) {
    outages.push({
      hook: await partner.register(['desembolso.falhou']),
      endsMin: 31 + Math.round((n * (900 - 31)) / 49),
    });
  }
  const reported = new Map<string, string[]>();
  let minute = 0;
  // When a delivery is tried, and one that began a minute later.
  for (const next of [0, 1, 2, 6, 7, 21, 22, 81, 82, 441, 442]) {
    advance(engine, (next - minute) * 60);
    minute = next;
    for (const { hook, endsMin } of outages) world.receiver.answerWith(status(minute < endsMin ? 500 : 200), hook.path);
    // A second event behind the first, whose failures fall into the same hours.
    if (minute <= 1) await partner.emit();
    await deliver();
    world.receiver.posts.length = 0;
    await alerts.poll(pool);
    for (const text of textsAt(chat)) {
      const [, id = ''] = /webhooks\/([0-9a-f-]{36})/.exec(text) ?? [];
      const kind = /uma entrega em (erro|atraso)|\d+ entregas em (erro|atraso)/.exec(text)?.slice(1).find(Boolean);
      reported.set(id, [...(reported.get(id) ?? []), `${kind} ${minute}`]);
    }
  }
  for (const { hook, endsMin } of outages) {
    const late = reported.get(hook.id)?.filter((one) => one.startsWith('atraso'));
    const dead = reported.get(hook.id)?.filter((one) => one.startsWith('erro'));
    expect([endsMin, late?.[0]]).toEqual([endsMin, 'atraso 21']);
    expect([endsMin, dead?.[0]]).toEqual([endsMin, endsMin > 441 ? 'erro 441' : undefined]);
    expect(late?.length).toBeLessThanOrEqual(2);
  }
  const rows = await sql<{ n: number }[]>`
    select count(*)::int as n from alerts where partner_id = ${partner.id} and channel = 'slack' and sent_at is not null
    group by subject, kind, date_trunc('hour', sent_at) having count(*) > 1`;
  expect(rows).toEqual([]);
});

test('an alert names how many, the first event with its loan, why and what to do, and leads to the resend', async () => {
  const hook = await partner.register(['desembolso.falhou']);
  world.receiver.answerWith(status(401), hook.path);
  await partner.emit();
  await partner.emit();
  for (const minutes of [0, 1, 5, 15, 60, 360]) {
    advance(engine, minutes * 60);
    await deliver();
  }
  const { body: health } = await partner.send<WebhookHealthResource>('GET', `/v1/webhooks/${hook.id}/saude`);
  expect(health).toMatchObject({ em_erro: 2, primeira_em_erro: { resultado: 'resposta_nao_2xx', status_http: 401 } });
  expect(health.ultimo_erro?.id).not.toBe(health.primeira_em_erro?.id);
  await alerts.poll(pool);
  const [late, dead, ...more] = textsAt(chat).toSorted();
  expect(more).toEqual([]);
  expect(late).toMatch(/2 entregas em atraso/);
  for (const part of [
    /2 entregas em erro/,
    /Primeira: desembolso\.falhou, empréstimo 2026-00000001/,
    /HTTP 401/,
    /HMAC/,
    new RegExp(`https://carteiro\\.example\\.com/painel/webhooks/${hook.id}/recuperar`),
  ])
    expect(dead).toMatch(part);
  expect(dead).not.toContain(hook.path);
});

test('what is lost behind the message of its hour is told with the next one, and nothing once it was delivered', async () => {
  const hook = await partner.register(['desembolso.falhou']);
  world.receiver.answerWith(status(500), hook.path);
  const start = new Date(Math.ceil((engine.now.getTime() + 1) / 3_600_000) * 3_600_000 + 60_000);
  engine.now = start;
  const failTo = async (failures: number) => {
    for (const minutes of [0, 1, 5, 15, 60, 360].slice(0, failures)) {
      advance(engine, minutes * 60);
      await deliver();
    }
  };
  await partner.emit();
  await failTo(4);
  await alerts.poll(pool);
  await partner.emit();
  await failTo(4);
  await alerts.poll(pool);
  expect(textsAt(chat)).toHaveLength(1);
  // The next hour, before it ends.
  engine.now = new Date(start.getTime() + 3_600_000 + 59 * 60_000);
  await alerts.poll(pool);
  const texts = textsAt(chat);
  expect(texts).toHaveLength(2);
  expect(texts[1]).toMatch(/2 entregas em atraso/);
});

test('other webhooks of the partner are told by notices, which never tell of themselves', async () => {
  const hook = await partner.register(['desembolso.falhou']);
  const listener = await partner.register(['webhook.atraso', 'webhook.erro']);
  for (const { path } of [hook, listener]) world.receiver.answerWith(status(503), path);
  await partner.emit();
  for (const minutes of [0, 1, 5, 15, 60, 360, 1, 5, 15, 60, 360, 60]) {
    advance(engine, minutes * 60);
    await deliver();
    await alerts.poll(pool);
  }
  const notices = world
    .postsTo(listener.path)
    .map(({ body }) => JSON.parse(String(body)) as { evento: string; data: Record<string, unknown> });
  expect(new Set(notices.map(({ evento }) => evento))).toEqual(new Set(['webhook.atraso', 'webhook.erro']));
  const [first] = notices;
  expect(Object.keys(first?.data ?? {})).toEqual([
    'webhook_id',
    'host',
    'desde',
    'entregas',
    'primeira_entrega_id',
    'ultimo_resultado',
    'ultimo_status_http',
  ]);
  expect(first?.data).toMatchObject({ webhook_id: hook.id, entregas: 1, ultimo_status_http: 503 });
  expect(notices.filter(({ data }) => data.webhook_id === listener.id)).toEqual([]);
  // People are told of the dead notices too.
  expect(textsAt(chat).some((text) => text.includes(`${listener.id}/recuperar`))).toBe(true);
});

const html = { 'content-type': 'text/html; charset=utf-8' };
const json = { 'content-type': 'application/json' };
const HONEST: readonly Answer[] = [
  status(200),
  status(204),
  status(202),
  status(200, '', { headers: html }),
  status(200, 'OK', { headers: html }),
  status(200, '<p>obrigado</p>', { headers: html }),
  status(200, '<?xml version="1.0"?><ok/>', { headers: { 'content-type': 'text/xml' } }),
  status(200, '<soap:Envelope><soap:Body/></soap:Envelope>'),
  status(200, '{"ok":true}', { headers: json }),
  status(200, '{"message":"<html> is no page"}', { headers: json }),
  status(200, 'recebido: <html>'),
  status(201, '{"id":"1"}', { headers: json }),
  status(200, '\uFEFF{}', { headers: json }),
  status(200, 'true'),
  status(200, '[]', { headers: json }),
  status(200, JSON.stringify({ texto: 'x'.repeat(7_000) }), { headers: json }),
  status(200, 'HTML recebido'),
  status(200, '<head-office>ok</head-office>'),
  status(200, '\n\n'),
  // One page among ten answers, as while it is deployed.
  (() => {
    let answers = 0;
    return (post, response, socket) =>
      status(200, (answers += 1) === 4 ? '<html><body>em manutenção</body></html>' : 'ok')(post, response, socket);
  })(),
];
const LIARS: readonly Answer[] = [
  status(200, '<!DOCTYPE html>\n<html><head><title>Entrar</title></head></html>', { headers: html }),
  status(200, '\n <!-- portal --><HTML lang="pt"><body>Bem-vindo</body></HTML>'),
  status(200, JSON.stringify({ lista: 'x'.repeat(20_000) }), { headers: json }),
];

test('of 20 honest receivers none is called strange, of three that answer pages or floods all, in health too', async () => {
  const hooks: Registered[] = [];
  for (const answer of [...HONEST, ...LIARS]) {
    const hook = await partner.register(['desembolso.falhou']);
    world.receiver.answerWith(answer, hook.path);
    hooks.push(hook);
  }
  for (let n = 0; n < 10; n += 1) await partner.emit();
  await deliver();
  // Hours are counted up to the oldest transaction that is open on the server, which may be another test's.
  await untilSettled(sql);
  await countHours(pool);
  await alerts.poll(pool);
  await alerts.poll(pool);
  const { body: listed } = await partner.send<ListedWebhook[]>('GET', '/v1/webhooks?incluir=saude');
  expect(listed.map(({ saude }) => saude?.respostas_estranhas)).toEqual([
    ...HONEST.map((_, at) => (at === 19 ? 1 : 0)),
    10,
    10,
    10,
  ]);
  const { avisos } = (await partner.send<AlertSettings>('GET', '/v1/alertas')).body;
  const strange = avisos.filter(({ tipo }) => tipo === 'resposta_estranha').map(({ webhook_id }) => String(webhook_id));
  expect(strange.toSorted()).toEqual(
    hooks
      .slice(-3)
      .map(({ id }) => id)
      .toSorted(),
  );
});

test('a chat that hangs holds up neither a stranger nor more than its share, and a test is tried once', async () => {
  const other = await world.subscriber();
  const path = await confirmed(other);
  world.receiver.answerWith(hang(), chat);
  const order = (id: string, many: number, kind: string) => sql`
    insert into alerts (subject, kind, happened_at, channel, partner_id, due_at)
    select ${id}, ${kind}, now() - n * interval '1 minute', 'slack', ${id}, now() - interval '1 hour'
    from generate_series(1, ${many}::int) n`;
  await order(partner.id, 100, 'teste');
  await order(other.id, 1, 'teste');
  const telling = alerts.notifyAll(pool, 'slack');
  while (textsAt(path).length === 0) await setImmediate();
  expect(world.postsTo(chat).length).toBeLessThanOrEqual(2);
  const hangingUp = setInterval(() => world.receiver.closeConnections(), 5);
  await telling;
  clearInterval(hangingUp);
  expect(
    await sql`select max(attempts)::int as tries, count(due_at)::int as due from alerts where partner_id = ${partner.id}`,
  ).toEqual([{ tries: 1, due: 0 }]);
});

test('a certificate of a receiver that ends is told 21, 7 and 1 days before, each once, and shown in health', async () => {
  const hook = await partner.register(['desembolso.falhou']);
  await sql`update webhooks set url = 'https://parceiro.example.com/x' where id = ${hook.id}`;
  for (const days of [60, 20, 19, 6, 0.5]) {
    const until = new Date(Date.now() + days * 86_400_000);
    await sql`delete from receiver_certificates`;
    await sql`insert into receiver_certificates values ('https://parceiro.example.com', ${until}, now())`;
    await alerts.poll(pool);
    const { body } = await partner.send<WebhookHealthResource>('GET', `/v1/webhooks/${hook.id}/saude`);
    expect(body.certificado_ate).toBe(until.toISOString());
  }
  await alerts.poll(pool);
  // The same certificate is told of once each time: the second, of 19 days, is another one that ends in 21.
  expect(textsAt(chat).filter((text) => /certificado/.test(text))).toHaveLength(4);
});

test('a webhook’s own client certificate and ours are told of in time, each once, and by what they are', async () => {
  const hook = await partner.register(['desembolso.falhou']);
  const own = makeAuthority().issue(['webhook.carteiro.test'], Date.now() + 4 * 86_400_000);
  const certificado = { pem: own.cert, chave_pem: own.key };
  await partner.send('PUT', `/v1/webhooks/${hook.id}/credenciais`, { certificado });
  await sql`
    insert into processes (name, role, host, version, keys, certificates)
    values ('p', 'poller', 'h', '1', '{}',
            jsonb_build_object('EGRESS_CERT_FILE', now() + interval '18 days', 'REGISTRY_CERT_FILE', now() + interval '1 day'))`;
  await sql`update projections set passed_at = null where name = 'alerts'`;
  await alerts.poll(pool);
  await alerts.poll(pool);
  const reported = textsAt(chat).filter((text) => /vence em/.test(text));
  expect(reported).toHaveLength(2);
  expect(reported.find((text) => text.includes('de cliente que você cadastrou'))).toContain(
    new Date(new X509Certificate(own.cert).validTo).toISOString(),
  );
  expect(reported.find((text) => text.includes('se mostra aos receptores'))).toContain('peça o novo à operação');

  const operator = await world.api.token(undefined, ['operador']);
  const path = `/v1/operador/webhooks/${hook.id}`;
  const shown = await world.api.send<{ certificado_proprio_ate: string | null }>('GET', path, { token: operator });
  expect(shown.body.certificado_proprio_ate).toBe(new Date(new X509Certificate(own.cert).validTo).toISOString());
  await partner.send('DELETE', `/v1/webhooks/${hook.id}/credenciais`);
  await sql`delete from processes`;
  await sql`update projections set passed_at = null where name = 'alerts'`;
  await sql`update webhooks set certificate_until = null where id <> ${hook.id}`;
  await alerts.poll(pool);
  expect(textsAt(chat).filter((text) => /vence em/.test(text))).toHaveLength(2);
});

test('a poller sees until when the chain of a receiver is good', async () => {
  const authority = makeAuthority();
  const identity = authority.issue(['localhost']);
  const receiver = await startReceiver({ tls: identity });
  const certificates = new ReceiverCertificates(() => 0);
  const onSecured = certificates.note.bind(certificates);
  const sender = createSender({ allowInsecure: true, tls: { ca: authority.ca }, onSecured });
  for (let n = 0; n < 3; n += 1) await sender.send({ url: `${receiver.url}/x`, body: Buffer.from('{}'), headers: [] });
  await certificates.write(pool);
  await sender.close();
  await receiver.close();
  const [row] = await sql<{ validUntil: Date }[]>`
    select valid_until as "validUntil" from receiver_certificates where origin = ${new URL(receiver.url).origin}`;
  expect(row?.validUntil).toEqual(new Date(new X509Certificate(identity.cert).validTo));
});
