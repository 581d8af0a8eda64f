/** Lanes that are due, and must be found by a session, whatever other sessions have begun and not yet committed. */
import type { ReservedSql } from 'postgres';
import type { Sql } from '../../src/db/pool.ts';
import { armLanes } from '../../src/delivery/arrivals.ts';
import { claimDue } from '../../src/delivery/claim.ts';

const LIMIT = 10;

/** Two sessions, and a claim by the second one at the end, which has to find one delivery. */
async function mustFind(sql: Sql, work: (other: ReservedSql, own: ReservedSql) => Promise<void>): Promise<void> {
  const [other, own] = [await sql.reserve(), await sql.reserve()];
  try {
    // Who waits for the other session here waits for ever.
    await own`set statement_timeout = '5s'`;
    await work(other, own);
    if ((await claim(own)) !== 1) throw new Error('a due delivery was not found: its lane sleeps');
  } finally {
    other.release();
    own.release();
  }
}

async function claim(session: ReservedSql): Promise<number> {
  await session`begin`;
  const { deliveries } = await claimDue(session, 'own/1', LIMIT);
  await session`commit`;
  return deliveries.length;
}

/** What arrives while a claim of another session holds the lane. */
export async function armBesideClaim(sql: Sql, append: () => Promise<unknown>): Promise<void> {
  await mustFind(sql, async (other, own) => {
    await append();
    await armLanes(own, null);
    await other`begin`;
    await claimDue(other, 'other/1', LIMIT);
    await append();
    await armLanes(own, null);
    await other`commit`;
    await armLanes(own, null);
  });
}

/** A lane that a transaction makes due which began before a claim and commits behind it. */
export async function wakeLate(sql: Sql, append: () => Promise<unknown>): Promise<void> {
  await mustFind(sql, async (other, own) => {
    await append();
    await other`begin`;
    await armLanes(other, null);
    await claim(own);
    await other`commit`;
  });
}

/** A lane that has been due for an hour, and that another session's claim holds and gives up. */
export async function holdOverdue(sql: Sql, append: () => Promise<unknown>): Promise<void> {
  await mustFind(sql, async (other, own) => {
    await append();
    await armLanes(own, null);
    await sql`update lanes set next_due_at = now() - interval '1 hour'`;
    await other`begin`;
    await claimDue(other, 'other/1', LIMIT);
    await claim(own);
    await other`rollback`;
  });
}
