import type { Fact } from '../contract/events.ts';
import type { Tx } from '../db/pool.ts';
import type { Fragment } from '../db/sql.ts';

export type RecordedEvent = Fact & {
  readonly version: number;
  readonly partnerId: string;
  readonly occurredAt: Date;
};

/** A condition that is true, or fails with `CT423` where the stream's events left the log; costs an index look-up. */
export function isHere(sql: Tx, stream: Fragment | string): Fragment {
  return sql`case when exists (select from loans where id = ${stream} and away_digest is not null) then refuse_away(${stream}) else true end`;
}

/** In order, up to and including version `upTo`; empty when the stream does not exist. */
export async function readStream(tx: Tx, stream: string, upTo = 2 ** 31 - 1): Promise<RecordedEvent[]> {
  return tx<RecordedEvent[]>`
    select type, data, version, partner_id as "partnerId", occurred_at as "occurredAt"
    from facts
    where stream = ${stream} and version <= ${upTo} and ${isHere(tx, stream)}
    order by version`;
}

/** Those of these streams that are in the log, one behind another, each in order. */
export async function readStreams(
  tx: Tx,
  streams: readonly string[],
): Promise<(RecordedEvent & { readonly stream: string })[]> {
  return tx<(RecordedEvent & { readonly stream: string })[]>`
    select stream, type, data, version, partner_id as "partnerId", occurred_at as "occurredAt"
    from facts
    where stream = any (${streams as string[]}::uuid[])
    order by stream, version`;
}

/** The database's clock, to the millisecond. */
export async function readClock(tx: Tx): Promise<Date> {
  const [row] = await tx<[{ now: Date }]>`select clock_timestamp() as now`;
  return row.now;
}

export async function isStream(tx: Tx, id: string): Promise<boolean> {
  const [row] = await tx<[{ version: number }]>`select stream_version(${id}) as version`;
  return row.version > 0;
}

export async function newStream(tx: Tx): Promise<{ readonly id: string; readonly now: Date }> {
  const [row] = await tx<[{ id: string; now: Date }]>`select uuidv7() as id, clock_timestamp() as now`;
  return row;
}
