/** The policy for failing endpoints on a real database, with a clock of the test's own. */
import { beforeEach, describe, expect, test } from 'vitest';
import { readWebhookHealth } from '../../../src/delivery/partner/webhook-health.ts';
import { forgetFailing, detectFailing } from '../../../src/delivery/queue/maintenance/failing.ts';
import { FailingRuns } from '../../../src/delivery/queue/maintenance/failing-runs.ts';
import type { FailingPolicy } from '../../../src/delivery/queue/maintenance/failing-rule.ts';
import type { Completion } from '../../../src/delivery/queue/record.ts';
import type { SendResult } from '../../../src/delivery/sending/send.ts';
import { measureWebhooks } from '../../../src/main/operations/measure-queue.ts';
import { muteWebhook, unmuteWebhook } from '../../../src/webhooks/muting.ts';
import { useOneWebhook } from '../../support/one-webhook.ts';
import { DELIVERED } from '../../support/delivered.ts';
import { type HeldPoller, startHeldPoller } from '../../support/held-poller.ts';
import { commitEvents, insertPartner, insertWebhook, readDeliveries } from '../../support/outbox.ts';

const POLICY: FailingPolicy = { failingAfter: 3, failingHours: 2, suspendAfterDays: 3 };
const BROKEN = { ...DELIVERED, outcome: 'resposta_nao_2xx', statusCode: 500 } as const;
const HOUR_S = 3_600;
const DAY_S = 24 * HOUR_S;
const URL = 'https://failing.example/hook?token=hunter2';

let startMs: number;
let poller: HeldPoller;

const { pool, sql, partnerId, webhookId } = await useOneWebhook(URL);
beforeEach(() => {
  startMs = Date.now() + 60_000;
  poller = startHeldPoller(pool, 'poller', 512, startMs);
});

/** One step of a look; null: somebody else looks, or has just looked. */
const look = async (atS = 0, policy = POLICY) => {
  const step = await detectFailing(pool, policy, { now: new Date(startMs + atS * 1_000), restS: 0 });
  return step?.changes ?? null;
};
const turnOn = () => look();
const readLane = async (id = webhookId) =>
  (
    await sql<[{ failingSince: Date | null }]>`
    select failing_since as "failingSince" from lanes where webhook_id = ${id}`
  )[0];
const readHistory = () =>
  sql<{ change: string; actor: string; reason: string | null; active: boolean }[]>`
    select change, actor, reason, active from webhook_history where webhook_id = ${webhookId} order by position`;
const readNotices = () =>
  sql<{ type: string; partnerId: string; fanOut: number; data: Record<string, unknown> }[]>`
    select type, partner_id as "partnerId", fan_out as "fanOut", data from events where type like 'webhook.%' order by position`;

/** Sends what is due at `atS`, and has all of it fail. */
async function failAt(atS: number): Promise<void> {
  await poller.tick(atS);
  while (poller.flying(URL) > 0) {
    await poller.end(BROKEN, URL);
    await poller.tick(atS);
  }
}

/** Three deliveries whose attempts fail over two hours. Returns when the webhook became falhando, in seconds. */
async function makeFailing(): Promise<number> {
  await turnOn();
  await commitEvents(sql, partnerId, 3);
  for (const atS of [1, HOUR_S, 2 * HOUR_S + 10]) await failAt(atS);
  expect(await look(2 * HOUR_S + 20)).toEqual([{ webhookId, change: 'falhando' }]);
  return 2 * HOUR_S + 20;
}

test('enough failures over enough hours make a webhook falhando: its lane, its history, its health and the metrics say so', async () => {
  await turnOn();
  await commitEvents(sql, partnerId, 3);
  await failAt(1);
  expect(await look(2)).toEqual([]);
  await failAt(HOUR_S);
  expect(await look(HOUR_S)).toEqual([]);
  expect(await pool.run(measureWebhooks)).toMatchObject({ webhooks: expect.arrayContaining([failing(0)]) });
  await failAt(2 * HOUR_S + 10);
  const since = new Date(startMs + 2 * HOUR_S * 1_000 + 20_000);
  expect(await look(2 * HOUR_S + 20)).toEqual([{ webhookId, change: 'falhando' }]);

  expect(await readLane()).toEqual({ failingSince: since });
  expect(await readHistory()).toEqual([
    {
      change: 'falhando',
      actor: 'servico',
      active: true,
      reason: expect.stringMatching(/^9 falhas seguidas desde .*500$/),
    },
  ]);
  expect(await readWebhookHealth(pool, partnerId, [webhookId])).toMatchObject([{ estado: 'falhando' }]);
  expect(await pool.run(measureWebhooks)).toMatchObject({ webhooks: expect.arrayContaining([failing(1)]) });
  expect(await look(2 * HOUR_S + 30)).toEqual([]);
  expect(await readHistory()).toHaveLength(1);
});

const failing = (value: number) => ({ labels: { state: 'failing' }, value });

test('a falhando webhook gets one delivery at a time, over all pollers, and a good answer ends it', async () => {
  const atS = await makeFailing();
  await commitEvents(sql, partnerId, 30);
  const other = startHeldPoller(pool, 'other', 512, startMs);
  for (let probe = 0; probe < 4; probe += 1) {
    await poller.fill(atS + 30);
    await other.fill(atS + 30);
    expect(poller.flying(URL) + other.flying(URL)).toBe(1);
    await poller.end(BROKEN, URL);
    await other.end(BROKEN, URL);
  }
  expect(await look(atS + 40)).toEqual([]);

  await poller.fill(atS + 50);
  expect(poller.flying(URL)).toBe(1);
  await poller.end(DELIVERED, URL);
  expect(await look(atS + 60)).toEqual([{ webhookId, change: 'fim_da_falha' }]);
  expect(await readLane()).toEqual({ failingSince: null });
  expect((await readHistory()).map(({ change, actor }) => [change, actor])).toEqual([
    ['falhando', 'servico'],
    ['fim_da_falha', 'servico'],
  ]);
  await poller.fill(atS + 70);
  expect(poller.flying(URL)).toBeGreaterThan(1);
  expect(await sql`select from failing_runs`).toHaveLength(0);
});

test('a success in between begins the count anew', async () => {
  await turnOn();
  await commitEvents(sql, partnerId, 3);
  await failAt(1);
  await look(2);
  await poller.tick(HOUR_S);
  await poller.end(DELIVERED, URL, 1);
  await poller.end(BROKEN, URL);
  await look(HOUR_S + 10);
  await failAt(2 * HOUR_S + 10);
  expect(await look(2 * HOUR_S + 20)).toEqual([]);
  expect(await readLane()).toEqual({ failingSince: null });
});

test('of what came in one look, only the failures after the last success count', async () => {
  await turnOn();
  await commitEvents(sql, partnerId, 3);
  await failAt(1);
  await poller.tick(HOUR_S);
  await poller.end(DELIVERED, URL, 1);
  expect(await look(HOUR_S + 10)).toEqual([]);
  expect(await sql`select from failing_runs`).toHaveLength(0);
  await poller.end(BROKEN, URL);
  await failAt(2 * HOUR_S);
  await look(2 * HOUR_S + 10);
  expect(await sql`select failures from failing_runs`).toEqual([{ failures: 4 }]);
});

test('after its days a failure suspends it, by the service; what is pending becomes suspensa, and it is not judged again', async () => {
  const atS = await makeFailing();
  await commitEvents(sql, partnerId, 5);
  await failAt(atS + 3 * DAY_S - HOUR_S);
  expect(await look(atS + 3 * DAY_S - HOUR_S)).toEqual([]);
  await poller.tick(atS + 3 * DAY_S + 10);
  await poller.end(BROKEN, URL);
  const endS = atS + 3 * DAY_S + 20;
  expect(await look(endS)).toEqual([{ webhookId, change: 'suspensao' }]);
  expect(await sql`select from failing_runs`).toHaveLength(0);

  const [webhook] = await sql`select active from webhooks where id = ${webhookId}`;
  expect(webhook).toEqual({ active: false });
  expect((await readHistory()).at(-1)).toMatchObject({ change: 'suspensao', actor: 'servico', active: false });
  expect(await poller.tick(endS + 30 * DAY_S)).toBe(0);
  await poller.drain();
  const statuses = new Set((await readDeliveries(sql, webhookId)).map(({ status }) => status));
  expect(statuses).toEqual(new Set(['suspensa']));
  expect(await readLane()).toEqual({ failingSince: null });
  expect(await look(endS + 30)).toEqual([]);
  expect((await readNotices()).map(({ type }) => type)).toEqual(['webhook.falhando', 'webhook.suspenso']);
});

describe('a notice', () => {
  test('goes to the other webhooks that subscribe, and to no other: not to the failing one, no other partner, none inactive', async () => {
    await sql`update webhooks set events = '{desembolso.falhou,webhook.falhando,webhook.suspenso}'`;
    const listens = await insertWebhook(sql, partnerId, 'https://other.example/', ['webhook.falhando']);
    await insertWebhook(sql, partnerId, 'https://deaf.example/', ['repasse.processado', 'webhook.suspenso']);
    const inactive = await insertWebhook(sql, partnerId, 'https://inactive.example/', ['webhook.falhando']);
    await sql`update webhooks set active = false where id = ${inactive.id}`;
    await insertWebhook(sql, await insertPartner(sql), 'https://stranger.example/', ['webhook.falhando']);
    await makeFailing();
    const reported = await sql<{ webhookId: string }[]>`
      select d.webhook_id as "webhookId" from deliveries d join messages m on m.event_id = d.event_id where m.type like 'webhook.%'`;
    expect(reported).toEqual([{ webhookId: listens.id }]);
    expect(await readNotices()).toMatchObject([{ type: 'webhook.falhando', partnerId, fanOut: 1 }]);
  });

  test('of a partner whose only webhook fails reaches nobody but the operator', async () => {
    await sql`select keep_operator_webhook('https://operator.example/', 'sealed'::bytea, '{webhook.falhando,webhook.suspenso}')`;
    await makeFailing();
    const [{ operator }] = await sql<[{ operator: string }]>`select operator_partner() as operator`;
    const notices = await readNotices();
    expect(notices.map(({ partnerId: id, fanOut }) => [id, fanOut])).toEqual(
      expect.arrayContaining([
        [partnerId, 0],
        [operator, 1],
      ]),
    );
    for (const { data } of notices) {
      expect(data).toMatchObject({
        webhook_id: webhookId,
        parceiro_id: partnerId,
        host: 'failing.example',
        falhas: 9,
        ultimo_resultado: 'resposta_nao_2xx',
        ultimo_status_http: 500,
      });
      expect(JSON.stringify(data)).not.toContain('hunter2');
    }
  });
});

test('pollers that look at once make one change and one notice', async () => {
  await turnOn();
  await commitEvents(sql, partnerId, 3);
  for (const atS of [1, HOUR_S, 2 * HOUR_S + 10]) await failAt(atS);
  const now = new Date(startMs + 3 * HOUR_S * 1_000);
  const looks = await Promise.all(Array.from({ length: 6 }, () => detectFailing(pool, POLICY, { now, restS: 0 })));
  expect(looks.flatMap((step) => step?.changes ?? [])).toEqual([{ webhookId, change: 'falhando' }]);
  expect(await readNotices()).toHaveLength(1);
  expect(await readHistory()).toHaveLength(1);
});

test('while one looks, nobody else does', async () => {
  await turnOn();
  await sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(advisory_lock('judging'))`;
    expect(await detectFailing(pool, POLICY, { restS: 0 })).toBeNull();
  });
  expect(await look()).toEqual([]);
});

test('a webhook whose run ends while the policy waits to suspend it stays active', async () => {
  const atS = await makeFailing();
  const endS = atS + 4 * DAY_S;
  await failAt(endS);
  let looking: ReturnType<typeof look> = Promise.resolve(null);
  await sql.begin(async (tx) => {
    await tx`select from webhooks where id = ${webhookId} for no key update`;
    looking = look(endS + 10);
    const waits = () => sql`
      select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    while ((await waits()).length === 0);
    // As a success has just been counted.
    await sql`delete from failing_runs`;
  });
  expect(await looking).toEqual([]);
  expect(await sql`select active from webhooks where id = ${webhookId}`).toEqual([{ active: true }]);
  expect(await look(endS + 20)).toEqual([{ webhookId, change: 'fim_da_falha' }]);
});

test('a change that was made already is not made again', async () => {
  await makeFailing();
  const again = await sql<{ done: boolean }[]>`select change_failing(${webhookId}, 'falhando', now(), 'x') as done`;
  expect(again).toEqual([{ done: false }]);
  expect(await readHistory()).toHaveLength(1);
});

test('when many fail at once, some are changed by the next look', async () => {
  await turnOn();
  for (const name of ['second', 'third']) await insertWebhook(sql, partnerId, `https://failing.example/${name}`);
  await commitEvents(sql, partnerId, 1);
  for (const atS of [1, HOUR_S, 2 * HOUR_S + 10]) {
    await poller.tick(atS);
    await poller.end(BROKEN);
  }
  const changed: string[] = [];
  for (const atS of [3, 3.1, 3.2, 3 + 73, 3 + 73.1, 3 + 73.2]) {
    if (atS === 3 + 73) {
      await poller.tick(atS * HOUR_S);
      await poller.end(BROKEN);
    }
    const now = new Date(startMs + atS * HOUR_S * 1_000);
    const step = await detectFailing(pool, POLICY, { now, restS: 0, atOnce: 1 });
    changed.push((step?.changes ?? []).map(({ change }) => change).join());
  }
  expect(changed).toEqual(['falhando', 'falhando', 'falhando', 'suspensao', 'suspensao', 'suspensao']);
  expect(await sql`select from webhooks where active`).toHaveLength(0);
});

test('each recorded failure counts once, late or not, a lost attempt does not; any success ends the run', async () => {
  await turnOn();
  const runs = new FailingRuns('poller');
  const count = (...ended: [SendResult, Completion['standing'], number][]) =>
    runs.count(
      pool,
      new Map(
        ended.map(([result, standing, startedAtMs]) => [
          { webhookId, partnerId, startedAtMs, startedByMs: startedAtMs, result },
          { standing },
        ]),
      ),
    );
  const counted = async () => (await sql`select failures from failing_runs`)[0]?.['failures'];
  await count([BROKEN, 'current', 2], [BROKEN, 'late', 1], [BROKEN, 'repeated', 3]);
  expect(await counted()).toBe(2);
  await Promise.all([count([BROKEN, 'given_up', 5]), count([BROKEN, 'current', 4])]);
  expect(await counted()).toBe(4);
  const [run] = await sql<{ first: Date; last: Date }[]>`
    select first_failed_at as first, last_failed_at as last from failing_runs`;
  expect(run).toEqual({ first: new Date(2), last: new Date(6) });
  await count([BROKEN, 'current', 8], [DELIVERED, 'late', 7]);
  expect(await counted()).toBe(1);
  await count([DELIVERED, 'repeated', 9]);
  expect(await counted()).toBeUndefined();
});

test('a failure that is recorded after a later success begins no run', async () => {
  await turnOn();
  const runs = new FailingRuns('poller');
  const count = (result: SendResult, startedAtMs: number) =>
    runs.count(
      pool,
      new Map([[{ webhookId, partnerId, startedAtMs, startedByMs: startedAtMs, result }, { standing: 'current' }]]),
    );
  await count(DELIVERED, 2);
  await count(BROKEN, 1);
  expect(await sql`select from failing_runs`).toEqual([]);
  await count(BROKEN, 3);
  expect(await sql`select first_failed_at as first from failing_runs`).toEqual([{ first: new Date(4) }]);
});

test('a success of a webhook in no run writes nothing', async () => {
  await turnOn();
  await commitEvents(sql, partnerId, 2);
  await poller.tick(1);
  await poller.end(BROKEN, URL, 1);
  await poller.end(DELIVERED, URL, 1);
  expect(await sql`select from failing_runs`).toHaveLength(0);
  await sql`
    insert into failing_runs (webhook_id, partner_id, failures, first_failed_at, last_failed_at, last_outcome)
    values (${webhookId}, ${partnerId}, 9, now(), now(), 'erro_conexao')`;
  await commitEvents(sql, partnerId, 1);
  await poller.tick(2);
  await poller.end(DELIVERED, URL, 1);
  expect(await sql`select from failing_runs`).toHaveLength(1);
});

test.each([
  ['a failure begins no run, because its new keeper may have had a success since', BROKEN, 1],
  ['a success ends the run that its new keeper has begun meanwhile', DELIVERED, 0],
])('of what a poller has in flight when it hands its lanes over, %s', async (_, result, left) => {
  await turnOn();
  const other = startHeldPoller(pool, 'other', 512, startMs);
  await commitEvents(sql, partnerId, 1);
  await poller.tick(1);
  await other.tick(1);
  const drained = poller.drain();
  while ((await sql`select from lanes where keeper = 'other'`).length === 0);
  await commitEvents(sql, partnerId, 1);
  await other.fill(2);
  await other.end(BROKEN);
  await poller.end(result);
  await drained;
  expect(await sql`select failures from failing_runs`).toEqual(left === 0 ? [] : [{ failures: 1 }]);
});

test('a poller that comes soon after another looks at nothing', async () => {
  await turnOn();
  expect(await detectFailing(pool, POLICY, { restS: 3_600 })).toBeNull();
  expect(await look()).toEqual([]);
});

test('a muted webhook is not judged, and counts from nothing when it is sent to again', async () => {
  const atS = await makeFailing();
  const operator = { actor: 'operador:teste', reason: null };
  await pool.transaction((tx) => muteWebhook(tx, webhookId, operator));
  expect(await look(atS + 10 * DAY_S)).toEqual([{ webhookId, change: 'fim_da_falha' }]);
  expect((await readHistory()).at(-1)).toMatchObject({ change: 'fim_da_falha', reason: 'está silenciado ou inativo' });
  expect(await look(atS + 10 * DAY_S)).toEqual([]);
  await pool.transaction((tx) => unmuteWebhook(tx, webhookId, operator));
  await failAt(atS + 20 * DAY_S);
  expect(await look(atS + 20 * DAY_S + 10)).toEqual([]);
  expect(await readLane()).toEqual({ failingSince: null });
});

test.each(['webhooks', 'partners'])('nor is one that is inactive, by its row of %s', async (table) => {
  const atS = await makeFailing();
  await sql`update ${sql(table)} set active = false`;
  expect(await look(atS + 10 * DAY_S)).toEqual([{ webhookId, change: 'fim_da_falha' }]);
  await sql`update ${sql(table)} set active = true`;
  expect(await look(atS + 10 * DAY_S)).toEqual([]);
  expect(await readLane()).toEqual({ failingSince: null });
});

test("the operator's own webhook is not judged", async () => {
  await sql`select keep_operator_webhook(${URL}, 'sealed'::bytea, '{webhook.falhando}')`;
  await turnOn();
  const [{ operator }] = await sql<[{ operator: string }]>`select operator_partner() as operator`;
  await sql`
    insert into failing_runs (webhook_id, partner_id, failures, first_failed_at, last_failed_at, last_outcome)
    values (${operator}, ${operator}, 9, now() - interval '8 days', now(), 'erro_conexao')`;
  expect(await look(10 * DAY_S)).toEqual([]);
  expect(await readNotices()).toEqual([]);
});

test('with the policy off nothing is read or changed, and turning it off ends what it had begun', async () => {
  await commitEvents(sql, partnerId, 3);
  for (const atS of [1, HOUR_S, 3 * HOUR_S]) await failAt(atS);
  expect(await forgetFailing(pool)).toEqual({ changes: [], hasMore: false });
  expect(await readHistory()).toEqual([]);
  await sql`truncate deliveries, pending, claims, attempts`;

  await makeFailing();
  expect(await forgetFailing(pool)).toEqual({ changes: [{ webhookId, change: 'fim_da_falha' }], hasMore: false });
  expect(await readLane()).toEqual({ failingSince: null });
  expect((await readHistory()).at(-1)).toMatchObject({
    change: 'fim_da_falha',
    reason: 'a política de falhas foi desligada',
  });
  expect(await sql`select from failing_policy`).toHaveLength(0);
});

test('what failed before the policy was turned on does not count', async () => {
  await commitEvents(sql, partnerId, 3);
  for (const atS of [1, HOUR_S, 2 * HOUR_S + 10]) await failAt(atS);
  expect(await look(3 * HOUR_S)).toEqual([]);
  expect(await sql`select from failing_runs`).toHaveLength(0);
});
