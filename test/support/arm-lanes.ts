import type { Statement, Tx } from '../../src/db/pool.ts';
import type { Patience } from '../../src/delivery/queue/arrivals.ts';
import { DUE_FROM_EVER } from '../../src/delivery/queue/upkeep/due-mark.ts';

/** The most arrivals that one turn takes, as `take_turn` has it. */
export const ARRIVALS_A_TURN = 4_000;

/** The long way of a turn alone: takes what arrived, 4,000 at most, and arms all of it. `more` is true when the turn was full. */
export function armLanes(sql: Tx, now: Date | null): Statement<{ taken: number; more: boolean }> {
  return sql<{ taken: number; more: boolean }[]>`
    with taken as materialized (select coalesce(take_arrivals(${ARRIVALS_A_TURN}), '{}') as came),
    armed as materialized (select came, arm_lanes(came, coalesce(${now}::timestamptz, now())) from taken)
    select cardinality(came) as taken, cardinality(came) = ${ARRIVALS_A_TURN} as more from armed`;
}

/** Waits in the server as `take_turn` does: at most `ms`, with naps of `napMs`. */
export function waitForWork(
  sql: Tx,
  { ms, napMs }: Patience,
  now: Date | null,
  dueFrom = DUE_FROM_EVER,
  sated: readonly string[] = [],
): Statement<object> {
  return sql<object[]>`
    select wait_for_work(${now}::timestamptz, ${ms}, ${napMs}, ${dueFrom}::text::timestamptz, ${sated as string[]}::uuid[])`;
}
