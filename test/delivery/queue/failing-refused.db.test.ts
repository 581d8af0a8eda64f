/** A suspension that is refused because the webhook is muted or deactivated while a look runs, and a run that is lost. */
import { beforeEach, describe, expect, test } from 'vitest';
import type { SendResult } from '../../../src/delivery/sending/send.ts';
import type { Pool, Tx } from '../../../src/db/pool.ts';
import { forgetFailing, detectFailing } from '../../../src/delivery/queue/maintenance/failing.ts';
import { FailingRuns } from '../../../src/delivery/queue/maintenance/failing-runs.ts';
import { muteWebhook, unmuteWebhook } from '../../../src/webhooks/muting.ts';
import { useOneWebhook } from '../../support/one-webhook.ts';

const POLICY = { failingAfter: 3, failingHours: 2, suspendAfterDays: 3 };
const ANA = { actor: 'operador:ana', reason: null };

const { pool, sql, partnerId, webhookId } = await useOneWebhook();
beforeEach(async () => {
  await look();
  await sql`update lanes set failing_since = now() - interval '5 days'`;
  await sql`
    insert into failing_runs (webhook_id, partner_id, failures, first_failed_at, last_failed_at, last_outcome, last_status_code)
    values (${webhookId}, ${partnerId}, 9, now() - interval '6 days', now() - interval '1 hour', 'resposta_nao_2xx', 500)`;
});

const look = async () => (await detectFailing(pool, POLICY, { restS: 0 }))?.changes;
const ended = [{ change: 'fim_da_falha' }];
const attempt = async (outcome: SendResult['outcome']) => {
  const runs = new FailingRuns('poller');
  runs.learn(webhookId);
  const result = { outcome, statusCode: outcome === 'entregue' ? 200 : 500, durationMs: 0 };
  await runs.count(
    pool,
    new Map([[{ webhookId, partnerId, startedAtMs: 0, startedByMs: Date.now(), result }, { standing: 'current' }]]),
  );
};
const readFailures = () => sql`select failures from failing_runs`;
const readLane = () => sql`select failing_since as since, active from lanes join webhooks on id = webhook_id`;

/** A look that judges while `change` holds the webhook, and goes on once it has committed. */
async function checkBeside(change: (tx: Tx) => Promise<unknown>): Promise<unknown> {
  let looks: ReturnType<typeof look> | undefined;
  await pool.transaction(async (tx) => {
    await change(tx);
    looks = look();
    await untilOneWaits(looks);
  });
  return looks;
}

async function untilOneWaits(or: Promise<unknown>): Promise<void> {
  const over = new AbortController();
  void or.finally(() => over.abort()).catch(() => undefined);
  while (!over.signal.aborted) {
    const waiting = await sql`
      select from pg_stat_activity where datname = current_database() and cardinality(pg_blocking_pids(pid)) > 0`;
    if (waiting.length > 0) return;
  }
  throw new Error('the look waits for nobody');
}

const mute = (tx: Tx) => muteWebhook(tx, webhookId, ANA);
const unmute = () => pool.transaction((tx) => unmuteWebhook(tx, webhookId, ANA));

describe.each<[string, (tx: Tx) => Promise<unknown>, () => Promise<unknown>]>([
  ['muted by the operator', mute, unmute],
  [
    'deactivated by its partner',
    (tx) => tx`update webhooks set active = false`,
    () => sql`update webhooks set active = true`,
  ],
])('one that is %s while a look would suspend it', (_, stop, goOn) => {
  let changed: unknown;
  beforeEach(async () => {
    await attempt('resposta_nao_2xx');
    changed = await checkBeside(stop);
  });

  test('keeps its run, since it is falhando still, and the next look ends both', async () => {
    expect(changed).toEqual([]);
    expect(await readFailures()).toEqual([{ failures: 10 }]);
    expect(await look()).toMatchObject(ended);
    expect(await readFailures()).toEqual([]);
    expect(await readLane()).toMatchObject([{ since: null }]);
  });

  test('is ended by a success once it is sent to again; one failure then does not suspend it', async () => {
    await goOn();
    const changes: unknown[] = [];
    for (let success = 0; success < 3; success += 1) {
      await attempt('entregue');
      changes.push(...((await look()) ?? []));
    }
    expect(changes).toMatchObject(ended);
    await attempt('resposta_nao_2xx');
    expect(await look()).toEqual([]);
    expect(await readLane()).toEqual([{ since: null, active: true }]);
  });
});

describe('a falhando webhook whose run is lost', () => {
  beforeEach(() => sql`delete from failing_runs`);

  test('is ended by the next look', async () => {
    expect(await look()).toMatchObject(ended);
    expect(await readLane()).toEqual([{ since: null, active: true }]);
  });

  test('is not suspended by its next failure, which begins a new run', async () => {
    await attempt('resposta_nao_2xx');
    expect(await look()).toMatchObject(ended);
    expect(await readLane()).toEqual([{ since: null, active: true }]);
    expect(await readFailures()).toEqual([{ failures: 1 }]);
  });

  test('is ended when the policy is turned off', async () => {
    expect((await forgetFailing(pool)).changes).toMatchObject(ended);
    expect(await readLane()).toEqual([{ since: null, active: true }]);
  });
});

test('a look finds what is falhando by an index of few, however many webhooks there are', async () => {
  await sql`
    insert into webhooks (id, partner_id, url, events, encrypted_secret)
    select uuidv7(), partner_id, url, events, encrypted_secret from webhooks, generate_series(1, 5000)`;
  for (const statistics of ['never analysed', 'analysed']) {
    if (statistics === 'analysed') await sql`analyze`;
    const read = await pool.transaction(async (tx) => {
      await detectFailing({ transaction: (work: (tx: Tx) => unknown) => work(tx) } as unknown as Pool, POLICY, {
        restS: 0,
      });
      const [row] = await tx<[{ rows: number }]>`
        select (pg_stat_get_xact_tuples_returned('lanes'::regclass) + (
          select sum(pg_stat_get_xact_tuples_returned(indexrelid)) from pg_index where indrelid = 'lanes'::regclass
        ))::int as rows`;
      return row.rows;
    });
    expect([statistics, read]).toEqual([statistics, expect.toSatisfy((rows: number) => rows > 0 && rows < 100)]);
  }
});
