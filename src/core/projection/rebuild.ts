/**
 * Rebuilds the projection `loans` from the whole log, a batch of streams at a time, while the API runs.
 *
 * Invariant: a repair never overwrites a newer version. It locks the row, then reads the stream, and writes only if the row's
 * version is still the one it saw. A batch is compared in one snapshot, so `--check` reports no work in progress as a
 * difference.
 *
 * Events that the projector has not reached are no difference; a repair first lets it catch up, and applies the bonds and
 * settlements that it left out (apply-events.ts). An archived loan has no state to compare; it is folded when it is restored.
 * Alternative: truncating the table shows readers an empty one meanwhile.
 */
import { isDeepStrictEqual } from 'node:util';
import { FIRST_ID } from '../../db/first-id.ts';
import { orLogged } from '../../db/outage-log.ts';
import type { Pool, Tx } from '../../db/pool.ts';
import type { Logger } from '../../log-lines.ts';
import { FIRST_TYPES } from '../../loan/rules.ts';
import { readStream, type RecordedEvent } from '../../log/read.ts';
import { applyEvents, readUnapplied } from './apply-events.ts';
import { foldLoan } from '../loans/loan-projection.ts';
import { projectBatch } from './projector.ts';

const BATCH = 500;
export interface RebuildOptions {
  /** True repairs; false only compares. */
  readonly repair: boolean;
  readonly batch?: number;
  /** Told after every batch how many loans were compared. */
  readonly onProgress?: (loans: number) => void;
}

export interface Rebuilt {
  /** How many loans were compared: streams of the log with a contract, and rows that have none. */
  readonly loans: number;
  /** In order: ids of loans whose row was not the fold; then streams of events whose bond or settlement was missing. */
  readonly differences: readonly string[];
  /** How many of them are right now; a row without a stream, or a stream that cannot be folded, is left as it is. */
  readonly repaired: number;
}

interface ProjectedRow {
  readonly id: string;
  readonly partnerId: string;
  readonly version: number;
  readonly state: unknown;
  /** Its events left, and its state with them. */
  readonly isAway: boolean;
}

type ComparedEvent = RecordedEvent & {
  readonly stream: string;
  /** The projector has not passed it. */
  readonly isAhead: boolean;
};

/** Compares every loan with its stream, and repairs what differs if asked to. */
export async function rebuildLoans(pool: Pool, log: Logger, options: RebuildOptions): Promise<Rebuilt> {
  const { repair, batch = BATCH, onProgress } = options;
  const differences: string[] = [];
  if (repair) while ((await projectBatch({ pool, log })).more);
  let [loans, repaired, after] = [0, 0, FIRST_ID];
  for (;;) {
    const { ids, differing } = await pool.transaction((tx) => compareBatch(tx, after, batch));
    const last = ids.at(-1);
    if (last === undefined) break;
    for (const id of differing) {
      differences.push(id);
      if (repair && (await repairSafely(pool, log, id))) repaired += 1;
    }
    loans += ids.length;
    after = last;
    onProgress?.(loans);
  }
  for (const event of await pool.run(readUnapplied)) {
    differences.push(event.stream);
    const work = () => pool.transaction((tx) => applyEvents(tx, [event]));
    const fields = { eventId: event.id };
    if (repair && (await orLogged(log, fields, 'an event could not be applied', work)) !== null) repaired += 1;
  }
  return { loans, differences, repaired };
}

/** The next loans in the order of their ids, and those of them that differ, all in one snapshot. */
async function compareBatch(tx: Tx, after: string, limit: number): Promise<{ ids: string[]; differing: string[] }> {
  await tx`set transaction isolation level repeatable read, read only`;
  const found = await tx<{ id: string }[]>`
    select id
    from (
      (select distinct stream as id from events
       where stream > ${after} and type = any (${FIRST_TYPES as readonly string[] as string[]})
       order by stream limit ${limit})
      union
      (select id from loans where id > ${after} order by id limit ${limit})
    ) either
    order by id
    limit ${limit}`;
  const ids = found.map(({ id }) => id);
  const [rows, events] = await Promise.all([
    tx<ProjectedRow[]>`
      select id, partner_id as "partnerId", version, state, away_digest is not null as "isAway" from loans where id = any (${ids}::uuid[])`,
    tx<ComparedEvent[]>`
      select stream, type, data, version, partner_id as "partnerId", occurred_at as "occurredAt",
             (e.epoch, e.tx, e.position) > (p.epoch, p.tx, p.position) as "isAhead"
      from facts e
      cross join projections p
      where stream = any (${ids}::uuid[]) and p.name = 'loans'
      order by stream, version`,
  ]);
  const rowOf = new Map(rows.map((row) => [row.id, row]));
  const eventsOf = Map.groupBy(events, ({ stream }) => stream);
  const differing = ids.filter((id) => {
    const row = rowOf.get(id);
    return row?.isAway !== true && !isFoldOf(id, row, eventsOf.get(id) ?? []);
  });
  return { ids, differing };
}

function isFoldOf(id: string, row: ProjectedRow | undefined, events: readonly ComparedEvent[]): boolean {
  try {
    const due = events.filter(({ isAhead, version }) => !isAhead || version <= (row?.version ?? 0));
    const loan = foldLoan(id, due);
    if (row === undefined || loan === null) return row === undefined && loan === null;
    const isSame = isDeepStrictEqual(row.state, JSON.parse(JSON.stringify(loan.state)));
    return isSame && row.version === loan.state.version && row.partnerId === loan.partnerId;
  } catch {
    return false;
  }
}

/** One loan that cannot be repaired must not stand in the way of the others. */
async function repairSafely(pool: Pool, log: Logger, id: string): Promise<boolean> {
  const work = () => pool.transaction((tx) => repairOne(tx, id));
  const isRepaired = await orLogged(log, { loanId: id }, 'a loan could not be repaired', work);
  if (isRepaired === false) log.error({ loanId: id }, 'a loan without a stream was left as it is');
  return isRepaired === true;
}

async function repairOne(tx: Tx, id: string): Promise<boolean> {
  const [seen] = await tx<{ version: number }[]>`select version from loans where id = ${id} for update`;
  const loan = foldLoan(id, await readStream(tx, id));
  if (loan === null) return false;
  const { partnerId, state } = loan;
  // Without a row seen, nothing equals null: a row that has appeared since is newer, and stays.
  await tx`
    insert into loans (id, partner_id, version, state)
    values (${id}, ${partnerId}, ${state.version}, ${JSON.stringify(state)}::text::json)
    on conflict (id) do update
    set partner_id = excluded.partner_id, version = excluded.version, state = excluded.state
    where loans.version = ${seen?.version ?? null}`;
  return true;
}
