/**
 * Brings back the history of an archived loan that somebody needs: a read, an old version, a command, an order to erase.
 * Invariant: a loan's history is whole in the log, or its row has a digest of it and the database refuses to fold it or to append to
 * it (`CT423`, refuse_away.sql). It comes back with the digest that was made when it left, or not at all.
 * One transaction puts all of its events back, and its state, which is their fold; `maintain` takes them away again.
 * Crash: before the commit it is away, after it is back. Alternative: each of some thirty readers of events reads the files, too;
 * old loans are seldom asked for.
 */
import { hexOf, type Row } from '../db/binary-record.ts';
import type { Pool } from '../db/pool.ts';
import { foldStreams } from '../core/loans/loan-projection.ts';
import { codeOf, HISTORY_AWAY, PERMISSION_DENIED } from '../db/unavailable.ts';
import { ArchiveFault } from './archive-fault.ts';

/** The rows in their months' files, as JSON has them, of events whose ids begin so, in hexadecimal. */
export type ReadEvents = (ids: readonly string[]) => Promise<Row[]>;

/** False where the loan's history is not away. Throws {@link ArchiveFault} where a file is not as it was archived, or the login may only read. */
export async function bringBack(pool: Pool, read: ReadEvents, stream: string): Promise<boolean> {
  const [away] = await pool.run(
    (sql) => sql<{ times: string }[]>`
      select encode(away_events, 'hex') as times from loans where id = ${stream} and away_digest is not null`,
  );
  if (away === undefined) return false;
  const found = await read(away.times.match(/.{12}/g) ?? []);
  const events = found.filter((event) => event['stream'] === stream);
  await putBack(pool, events, [stream]).catch((error: unknown) => {
    if (codeOf(error) !== PERMISSION_DENIED) throw error;
    throw new ArchiveFault(
      `the history of loan ${stream} is archived: archive recall ${stream} by the login of api first`,
    );
  });
  return true;
}

/** The same of the loan of an event; false for an event that is in the log or nowhere. */
export async function bringBackOf(pool: Pool, read: ReadEvents, eventId: string): Promise<boolean> {
  const [{ isThere }] = await pool.run(
    (sql) => sql<[{ isThere: boolean }]>`
      select exists (select from events where id = ${eventId}) or not exists (select from loans where away_digest is not null) as "isThere"`,
  );
  const [event] = isThere ? [] : await read([hexOf(eventId)]);
  return event !== undefined && bringBack(pool, read, event['stream'] as string);
}

/** For `Pool.mend`: true if the error named a loan whose history was away, and it is back. */
export async function mendAway(pool: Pool, read: ReadEvents, error: unknown): Promise<boolean> {
  const [, stream] =
    codeOf(error) === HISTORY_AWAY
      ? (/^the history of loan ([0-9a-f-]{36}) /.exec((error as Error).message) ?? [])
      : [];
  return stream !== undefined && bringBack(pool, read, stream);
}

/** Puts events back, and ends the absence of these loans, whose events are all there then. */
export async function putBack(pool: Pool, events: readonly Row[], streams: readonly string[]): Promise<void> {
  await pool.transaction(async (tx) => {
    if (events.length > 0) await tx`select bring_back(${JSON.stringify(events)}::text::json, '{}')`;
    if (streams.length === 0) return;
    const states = (await foldStreams(tx, streams)).map(({ state }) => [state.id, state] as const);
    await tx`select bring_back('[]', ${JSON.stringify(Object.fromEntries(states))}::text::json)`;
  });
}

/** Those of these events' streams whose history is away, in hexadecimal. */
export async function awayOf(pool: Pool, rows: readonly Row[], isLeaving = false): Promise<ReadonlySet<string>> {
  return awayAmong(pool, [...new Set(rows.map((row) => hexOf(row['stream'])))], isLeaving);
}

export async function awayAmong(
  pool: Pool,
  streams: readonly string[],
  isLeaving = false,
): Promise<ReadonlySet<string>> {
  const found = await pool.run(
    (sql) => sql<{ stream: string }[]>`
      select replace(id::text, '-', '') as stream from loans
      where id = any (${streams as string[]}::uuid[]) and away_digest is not null and (is_leaving or not ${isLeaving})`,
  );
  return new Set(found.map(({ stream }) => stream));
}
