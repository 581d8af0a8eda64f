/** Waits for open transactions of other tests on the same server: while they are open, later rows are not settled. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Sql } from '../../src/db/pool.ts';

/** Resolves when every transaction committed before now is settled. */
export async function untilSettled(sql: Sql): Promise<void> {
  const [{ now }] = await sql<[{ now: string }]>`select pg_current_xact_id()::text as now`;
  for (;;) {
    const [{ settled }] = await sql<[{ settled: boolean }]>`
      select pg_snapshot_xmin(pg_current_snapshot()) > ${now}::xid8 as settled`;
    if (settled) return;
    await sleep(5);
  }
}
