/** Lanes that are due, and must be found by a session, whatever other sessions have begun and not yet committed. */
import type { ReservedSql } from 'postgres';
import type { Sql } from '../../src/db/pool.ts';
import { freeSlots } from '../../src/delivery/queue/arrivals.ts';
import { armLanes } from '../support/arm-lanes.ts';
import { claimDue } from '../support/claim-due.ts';
import { DUE_FROM_EVER, readDueMark } from '../../src/delivery/queue/upkeep/due-mark.ts';

const LIMIT = 10;

interface Session {
  readonly sql: ReservedSql;
  /** Before this no lane is due, as far as it knows. */
  dueFrom: string;
}

/** Two sessions, and a claim by the second one at the end, which has to find one delivery. */
async function mustFind(sql: Sql, work: (other: ReservedSql, own: Session) => Promise<void>): Promise<void> {
  const other = await sql.reserve();
  const own = { sql: await sql.reserve(), dueFrom: DUE_FROM_EVER };
  try {
    const [{ pid }] = await own.sql<[{ pid: number }]>`select pg_backend_pid() as pid`;
    const working = new AbortController();
    await Promise.all([work(other, own).finally(() => working.abort()), neverBlocked(sql, pid, working.signal)]);
    await own.sql`begin`;
    const { deliveries } = await claimDue(own.sql, 'own/1', LIMIT, null, own.dueFrom);
    await own.sql`commit`;
    if (deliveries.length !== 1) throw new Error('a due delivery was not found: its lane sleeps');
  } finally {
    other.release();
    own.sql.release();
  }
}

/** The sessions take turns, so one that waits for the other waits for ever. */
export async function neverBlocked(sql: Sql, pid: number, over: AbortSignal): Promise<void> {
  while (!over.aborted) {
    const blocked = await sql`select from unnest(pg_blocking_pids(${pid}))`;
    if (blocked.length > 0) throw new Error('it waits for what another session has locked');
  }
}

/** What arrives while a claim of another session holds the lane. */
export async function armBesideClaim(sql: Sql, append: () => Promise<unknown>): Promise<void> {
  await mustFind(sql, async (other, own) => {
    await append();
    await armLanes(own.sql, null);
    await other`begin`;
    await claimDue(other, 'other/1', LIMIT);
    await append();
    await armLanes(own.sql, null);
    await other`commit`;
    await armLanes(own.sql, null);
  });
}

/** A slot that comes free while a claim of another session holds the lane, and leaves it saturated. */
export async function freeBesideClaim(sql: Sql, append: () => Promise<unknown>): Promise<void> {
  await mustFind(sql, async (other, own) => {
    for (let event = 0; event < LIMIT; event += 1) await append();
    await armLanes(own.sql, null);
    await other`begin`;
    const { deliveries } = await claimDue(other, 'other/1', LIMIT);
    const [first] = deliveries;
    await append();
    await freeSlots(sql, deliveries.slice(0, 1));
    await armLanes(own.sql, null);
    await other`commit`;
    await sql`
      update deliveries
      set status = 'entregue', next_attempt_at = null, finished_at = now(), claimed_by = null, claimed_at = null
      where id = ${first?.id ?? null}`;
    await armLanes(own.sql, null);
  });
}

/** A lane that a transaction makes due which began before the mark was read and commits behind it. */
export async function wakeLate(sql: Sql, append: () => Promise<unknown>): Promise<void> {
  await mustFind(sql, async (other, own) => {
    await append();
    await other`begin`;
    await armLanes(other, null);
    own.dueFrom = await readDueMark(own.sql, own.dueFrom);
    await other`commit`;
  });
}

/** A lane that has been due for an hour, and that another session's claim holds and gives up. */
export async function holdOverdue(sql: Sql, append: () => Promise<unknown>): Promise<void> {
  await mustFind(sql, async (other, own) => {
    await append();
    await armLanes(own.sql, null);
    await sql`update lanes set next_due_at = now() - interval '1 hour'`;
    await other`begin`;
    await claimDue(other, 'other/1', LIMIT);
    own.dueFrom = await readDueMark(own.sql, own.dueFrom);
    await other`rollback`;
  });
}
