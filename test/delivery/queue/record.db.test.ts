import { TIMES_S } from '../../../src/contract/delivery.ts';
import { beforeEach, describe, expect, test } from 'vitest';
import { type ClaimedDelivery } from '../../../src/delivery/queue/claim.ts';
import { pollLanes } from '../../support/poll.ts';
import { record } from '../../../src/delivery/queue/record.ts';
import type { Report } from '../../../src/delivery/queue/report.ts';
import type { Pool } from '../../../src/db/pool.ts';
import type { SendResult } from '../../../src/delivery/sending/send.ts';
import { reportFor } from '../../support/delivered.ts';
import { useOneWebhook } from '../../support/one-webhook.ts';
import { commitEvents, readAttempts, readDeliveries } from '../../support/outbox.ts';

/** With every sign of an array's text. */
const ANSWER = 'server: "x", {\\y}\n\nnull, "ok\\"';
const LEASE_S = TIMES_S.lease;

let start: Date;

const { pool, sql, partnerId, webhookId } = await useOneWebhook();
beforeEach(async () => {
  await commitEvents(sql, partnerId, 1);
  start = new Date(Date.now() + 1_000);
});

const after = (seconds: number) => new Date(start.getTime() + seconds * 1_000);

async function claimOne(claim: string, now: Date): Promise<ClaimedDelivery> {
  const [delivery] = await pollLanes(pool, claim, 10, now);
  if (!delivery) throw new Error('nothing was due');
  return delivery;
}

function reportOf(delivery: ClaimedDelivery, claim: string, outcome: SendResult['outcome']): Report {
  const statusCode = { entregue: 200, resposta_nao_2xx: 500 }[outcome as string] ?? null;
  return reportFor(delivery, claim, {
    outcome,
    statusCode,
    durationMs: 10,
    address: '192.0.2.1',
    error: null,
    answer: ANSWER,
  });
}

async function recordAt(now: Date, ...reports: Report[]): Promise<string[]> {
  return [...(await record(pool, reports, () => 10, now)).values()].map(({ standing }) => standing);
}

describe('the record', () => {
  test('makes a delivery entregue on a success and keeps the evidence of the attempt', async () => {
    const delivery = await claimOne('a/1', start);
    expect(await recordAt(after(1), reportOf(delivery, 'a/1', 'entregue'))).toEqual(['current']);
    expect(await readDeliveries(sql, webhookId)).toMatchObject([{ status: 'entregue', failures: 0, claimedBy: null }]);
    const [row] = await sql`select outcome, status_code, url, address, key_id, claim, poller, answer from attempts`;
    expect(row).toEqual({
      outcome: 'entregue',
      status_code: 200,
      url: 'https://partner.example/',
      address: '192.0.2.1',
      key_id: 'test',
      claim: 'a/1',
      poller: 'a',
      answer: ANSWER,
    });
  });

  test('ignores a stale failure but for its late row', async () => {
    const lost = await claimOne('a/1', start);
    await claimOne('b/1', after(LEASE_S + 1));
    const before = await readDeliveries(sql, webhookId);
    expect(await recordAt(after(LEASE_S + 2), reportOf(lost, 'a/1', 'resposta_nao_2xx'))).toEqual(['late']);
    expect(await readDeliveries(sql, webhookId)).toEqual(before);
    expect(await readAttempts(sql, lost.id)).toMatchObject([
      { number: 1, late: false, outcome: 'desconhecido' },
      { number: 1, late: true, outcome: 'resposta_nao_2xx' },
    ]);
  });

  test('believes a stale success: it ends the other poller’s claim, whose own report then comes late', async () => {
    const lost = await claimOne('a/1', start);
    const taken = await claimOne('b/1', after(LEASE_S + 1));
    expect(await recordAt(after(LEASE_S + 2), reportOf(lost, 'a/1', 'entregue'))).toEqual(['late']);
    expect(await readDeliveries(sql, webhookId)).toMatchObject([{ status: 'entregue', claimedBy: null }]);
    expect(await recordAt(after(48), reportOf(taken, 'b/1', 'resposta_nao_2xx'))).toEqual(['late']);
    expect(await readDeliveries(sql, webhookId)).toMatchObject([{ status: 'entregue', failures: 0 }]);
    expect(await readAttempts(sql, lost.id)).toMatchObject([
      { number: 1, late: false, outcome: 'desconhecido' },
      { number: 1, late: true, outcome: 'entregue' },
      { number: 2, late: false, outcome: 'desconhecido' },
      { number: 2, late: true, outcome: 'resposta_nao_2xx' },
    ]);
  });

  test('believes a stale success even after the delivery ended in erro or was suspended', async () => {
    for (const status of ['erro', 'suspensa']) {
      await sql`truncate attempts`;
      await sql`truncate claims`;
      await sql`update deliveries set failures = 0, attempts = 0`;
      await sql`update deliveries set status = 'pendente', finished_at = null, next_attempt_at = ${start}`;
      const lost = await claimOne('a/1', start);
      await claimOne('b/1', after(LEASE_S + 1));
      await sql`update deliveries set failures = 6, attempts = 6`;
      await sql`
        update deliveries set status = ${status}, next_attempt_at = null, finished_at = case when ${status} = 'erro' then now() end`;
      expect(await recordAt(after(LEASE_S + 5), reportOf(lost, 'a/1', 'entregue'))).toEqual(['late']);
      expect(await readDeliveries(sql, webhookId)).toMatchObject([{ status: 'entregue' }]);
    }
  });

  test('can be repeated when its commit is unknown: nothing changes and nothing is taken for late', async () => {
    const delivery = await claimOne('a/1', start);
    const report = reportOf(delivery, 'a/1', 'resposta_nao_2xx');
    await recordAt(after(1), report);
    const before = await readDeliveries(sql, webhookId);
    expect(await recordAt(after(2), report)).toEqual(['repeated']);
    expect(await readDeliveries(sql, webhookId)).toEqual(before);
    expect(await readAttempts(sql, delivery.id)).toHaveLength(1);
  });

  test('can be repeated for a late report as well', async () => {
    const lost = await claimOne('a/1', start);
    await claimOne('b/1', after(LEASE_S + 1));
    const report = reportOf(lost, 'a/1', 'erro_conexao');
    expect(await recordAt(after(LEASE_S + 2), report)).toEqual(['late']);
    expect(await recordAt(after(48), report)).toEqual(['repeated']);
    expect(await readAttempts(sql, lost.id)).toHaveLength(2);
  });

  test('keeps no answer of a late report that waited for the erasure of its event', async () => {
    const lost = await claimOne('a/1', start);
    await claimOne('b/1', after(LEASE_S + 1));
    let recording: Promise<unknown> = Promise.resolve();
    let transactions = 0;
    // The first transaction takes reports in time; the erasure comes before the second.
    const transaction: Pool['transaction'] = async (work) => {
      transactions += 1;
      if (transactions === 1) return pool.transaction(work);
      return sql
        .begin(async (tx) => {
          await tx`select from deliveries for update`;
          const second = pool.transaction(work);
          recording = second;
          await untilOneWaits();
          await tx`update events set commitment = sha256(salt), salt = null`;
          return { second };
        })
        .then(({ second }) => second);
    };
    const report = reportOf(lost, 'a/1', 'resposta_nao_2xx');
    const done = await record({ transaction } as Pool, [report], () => 10, after(LEASE_S + 2));
    await recording;
    expect([...done.values()]).toMatchObject([{ standing: 'late' }]);
    expect(await sql`select answer from attempts where late`).toEqual([{ answer: null }]);
  });

  test('resets the row of lost attempts when an outcome is known', async () => {
    await claimOne('dead/1', start);
    await claimOne('dead/2', after(LEASE_S + 1));
    const third = await claimOne('a/1', after(2 * (LEASE_S + 1)));
    expect(await readDeliveries(sql, webhookId)).toMatchObject([{ lostInRow: 2, attempts: 2 }]);
    await recordAt(after(93), reportOf(third, 'a/1', 'erro_conexao'));
    expect(await readDeliveries(sql, webhookId)).toMatchObject([{ lostInRow: 0, attempts: 3, failures: 1 }]);
  });
});

async function untilOneWaits(): Promise<void> {
  for (;;) {
    const rows = await sql`
      select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    if (rows.length > 0) return;
  }
}
