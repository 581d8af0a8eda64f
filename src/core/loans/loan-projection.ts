/** The table `loans`: the fold of each loan's stream, from every appender. */
import type { Tx } from '../../db/pool.ts';
import { fold } from '../../loan/evolve.ts';
import { FIRST_TYPES } from '../../loan/rules.ts';
import type { LoanState } from '../../loan/state.ts';
import { readStreams, type RecordedEvent } from '../../log/read.ts';

/** A loan, and the partner that it was contracted for. */
export interface OwnedLoan {
  readonly partnerId: string;
  readonly state: LoanState;
}

/** The loan that the events of `stream` tell of; null when none of them is its contract. */
export function foldLoan(stream: string, events: readonly RecordedEvent[]): OwnedLoan | null {
  const contract = events.find((event) => FIRST_TYPES.some((type) => type === event.type));
  const state = fold(events);
  if (contract === undefined || state?.id !== stream) return null;
  return { partnerId: contract.partnerId, state };
}

/** Writes the projection of loans, each unless that version or a later one is already there. */
export async function project(tx: Tx, loans: readonly OwnedLoan[]): Promise<void> {
  if (loans.length === 0) return;
  const rows = loans.map(({ partnerId, state }) => ({ id: state.id, partnerId, version: state.version, state }));
  // In the order of their ids, so that two writers of many wait for each other and never in a circle.
  await tx`
    insert into loans (id, partner_id, version, state)
    select id, "partnerId", version, state
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as folded (id uuid, "partnerId" uuid, version integer, state json)
    order by id
    on conflict (id) do update set version = excluded.version, state = excluded.state
    where loans.version < excluded.version`;
}

/** Those of `versions`' streams whose row is older than that version, or missing, in the order of their ids. */
export async function readBehind(tx: Tx, versions: ReadonlyMap<string, number>): Promise<string[]> {
  if (versions.size === 0) return [];
  const behind = await tx<{ stream: string }[]>`
    select stream
    from unnest(${[...versions.keys()]}::uuid[], ${[...versions.values()]}::int[]) as asked (stream, version)
    where not exists (select from loans where id = stream and loans.version >= asked.version)
    order by stream`;
  return behind.map(({ stream }) => stream);
}

/** Folds these streams anew and writes them; a stream that is no loan's is left out. */
export async function projectStreams(tx: Tx, streams: readonly string[]): Promise<void> {
  await tx`select refuse_away(id) from loans where id = any (${streams as string[]}::uuid[]) and away_digest is not null limit 1`;
  await project(tx, await foldStreams(tx, streams));
}

/** The loans that the events in the log fold to; a stream that is no loan's is left out. */
export async function foldStreams(tx: Tx, streams: readonly string[]): Promise<OwnedLoan[]> {
  const events = await readStreams(tx, streams);
  const loans = [...Map.groupBy(events, ({ stream }) => stream)].map(([stream, own]) => foldLoan(stream, own));
  return loans.filter((loan) => loan !== null);
}
