/** API, workers, poller and sealer do all their work with the rights of their roles and no others. */
import { expect, test } from 'vitest';
import { sealAll } from '../../src/audit/seals/sealer.ts';
import { verifySeals } from '../../src/audit/seals/verify.ts';
import { projectUntil } from '../../src/core/projection/projector.ts';
import { pendingMigrations } from '../../src/db/migrations/pending-migrations.ts';
import type { Pool } from '../../src/db/pool.ts';
import { readConfig } from '../../src/config.ts';
import { openAlerts } from '../../src/main/maintenance/alerts.ts';
import { confirmAddress, readAlerts, setAddresses } from '../../src/webhooks/alerts.ts';
import { createWebhook } from '../../src/webhooks/webhooks.ts';
import { connectTo } from '../support/connect.ts';
import { createTestDatabase, openPool } from '../support/database.ts';
import { advance, startEngine } from '../support/engine.ts';
import { createLogin, type Login } from '../support/logins.ts';
import { commitEvents, insertPartner, insertWebhook, openTestSecret, readDeliveries } from '../support/outbox.ts';
import { startReceiver, status } from '../support/receiver.ts';
import { untilSettled } from '../support/settled.ts';
import { silentLog } from '../support/silent-log.ts';
import { LOAN, RECEIVED_DOCUMENT } from '../support/payloads.ts';

const database = await createTestDatabase();
const logins: Login[] = [await createLogin(database, 'carteiro_app'), await createLogin(database, 'carteiro_poller')];
const [app, poller] = logins.map(({ url }) => openPool(url, { name: 'role', max: 4 })) as [Pool, Pool];

test('the app registers and appends, the poller delivers and records, and each of them seals', async () => {
  const receiver = await startReceiver();
  const partnerId = await insertPartner(database.sql);
  const vault = {
    keyId: '00000000',
    encrypt: (_: string, secret: string) => Buffer.from(secret),
    decrypt: openTestSecret,
  };
  const request = {
    partnerId,
    url: receiver.url,
    events: ['desembolso.falhou'] as const,
    actor: 'test',
    requestId: null,
  };
  const created = await app.transaction((tx) => createWebhook(tx, vault, request));
  if (!('ok' in created)) throw new Error('refused');
  await commitEvents(connectTo(logins[0]?.url ?? ''), partnerId, 20);
  const engine = startEngine(poller, { openSecret: openTestSecret });
  while ((await engine.poll()) > 0);
  await engine.close();
  await receiver.close();
  const statuses = (await readDeliveries(database.sql, created.ok.webhook.id)).map(({ status }) => status);
  expect(statuses).toEqual(Array<string>(20).fill('entregue'));

  await untilSettled(database.sql);
  expect(await projectUntil({ pool: app, log: silentLog }, new Date(0), 60_000)).toBeNull();
  // PostgreSQL hides from the app since when another login's transaction is open.
  const open = await database.sql.reserve();
  await open`begin`;
  await open`select pg_current_xact_id()`;
  const reason = await projectUntil({ pool: app, log: silentLog }, new Date(Date.now() + 60_000), 0);
  expect(reason).toMatch(/the transaction of process \d+ .* is open; end it/);
  await open`rollback`;
  open.release();
  await untilSettled(database.sql);
  expect((await sealAll(poller)).rows).toBeGreaterThan(0);
  await database.sql`select append_event(${LOAN}, 0, 'documento.recebido', ${partnerId}, ${RECEIVED_DOCUMENT}::text::json, 'test')`;
  await untilSettled(database.sql);
  expect((await sealAll(app)).rows).toBe(1);
  expect((await verifySeals(app)).findings).toEqual([]);
  expect(await app.run(pendingMigrations)).toBe(0);
  expect(await poller.run(pendingMigrations)).toBe(0);
});

test('the app keeps the addresses of alerts, and the poller looks for what to tell, tells it and makes notices', async () => {
  const partnerId = await insertPartner(database.sql);
  const receiver = await startReceiver();
  const { id } = await insertWebhook(database.sql, partnerId, `${receiver.url}/hook`, ['desembolso.falhou']);
  receiver.answerWith(status(500), '/hook');
  const actor = { partnerId, actor: 'test', requestId: null };
  await app.transaction((tx) => setAddresses(tx, actor, { email: null, slack: `${receiver.url}/chat` }));
  const [{ code }] = await database.sql<
    [{ code: string }]
  >`select code from alert_addresses where partner_id = ${partnerId}`;
  await app.transaction((tx) => confirmAddress(tx, actor, code));
  await commitEvents(database.sql, partnerId, 1);
  const engine = startEngine(poller, { openSecret: openTestSecret });
  for (const minutes of [60, 1, 5, 15, 60, 360]) {
    advance(engine, minutes * 60);
    while ((await engine.poll()) > 0);
  }
  await engine.close();
  const alerts = await openAlerts(readConfig({}), silentLog, () => engine.now);
  await alerts.collect(poller, { restS: 0.1 });
  await alerts.notifyAll(poller, 'slack');
  await alerts.close();
  await receiver.close();
  const reported = await database.sql<{ kind: string; channel: string }[]>`
    select kind, channel from alerts where subject = ${id} and sent_at is not null order by kind, channel`;
  expect(reported.map(({ kind, channel }) => `${kind} ${channel}`)).toEqual([
    'atraso evento',
    'atraso slack',
    'erro evento',
    'erro slack',
  ]);
  expect((await app.run((sql) => readAlerts(sql, partnerId))).changes.map((line) => line.actor)).toEqual([
    'test',
    'test',
  ]);
});
