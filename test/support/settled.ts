/** Waiting for the transactions that other tests have open on the same server: they hold back what counts as settled. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Sql } from '../../src/db/pool.ts';

/** Resolves when everything committed until now is settled. */
export async function untilSettled(sql: Sql): Promise<void> {
  const [{ now }] = await sql<[{ now: string }]>`select pg_current_xact_id()::text as now`;
  for (;;) {
    const [{ settled }] = await sql<[{ settled: boolean }]>`
      select pg_snapshot_xmin(pg_current_snapshot()) > ${now}::xid8 as settled`;
    if (settled) return;
    await sleep(5);
  }
}
