/**
 * Whether the installation knows the server (server_fault.sql), and the watch for changes while a process runs.
 * Invariant: no session appends, claims or seals on an unknown server, because each new session asks first. The watch covers what a
 * session cannot see: a dump restored under living sessions (it ends the process), a promotion (it logs it), and a transaction count
 * below the highest that this process has seen (it tells the database).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../log-lines.ts';
import type { Pool, Tx } from './pool.ts';
import { codeOf } from './unavailable.ts';

/** `copy`: written on another server; `behind`: its timeline or its transactions went back. */
export type ServerFault = 'copy' | 'behind';

/** Thrown where work on an unknown server must not begin or go on. */
export class UnknownServer extends Error {
  override name = 'UnknownServer';
  readonly fault: ServerFault;

  constructor(fault: ServerFault) {
    const what =
      fault === 'copy'
        ? 'this database is a copy: it was written on another server'
        : 'this database went back in time: its server counts transactions below what was seen';
    super(
      `${what}; if it is to go on from here, and nothing works on the one before any more, run the command 'adopt'`,
    );
    this.fault = fault;
  }
}

/** True for the database functions' refusal on an unknown server. */
export function isUnknownServer(error: unknown): boolean {
  return error instanceof UnknownServer || codeOf(error) === 'CT503';
}

/** Null when the server is the known one. */
export async function readServerFault(sql: Tx): Promise<ServerFault | null> {
  const [{ fault }] = await sql<[{ fault: ServerFault | null }]>`select server_fault() as fault`;
  return fault;
}

/** The end of the log in words, which shows a restore to an earlier moment to those who know other systems. */
export async function readNewest(sql: Tx): Promise<string> {
  const [{ event, attempt }] = await sql<[{ event: Date | null; attempt: Date | null }]>`
    select (select uuid_extract_timestamp(id) from events order by id desc limit 1) as event,
           (select recorded_at from attempts order by recorded_at desc limit 1) as attempt`;
  const of = (at: Date | null) => (at === null ? 'not there' : `of ${at.toISOString()}`);
  return `the newest event is ${of(event)}, the newest attempt ${of(attempt)}`;
}

/** The last check. `nextTx` is a whole number as text. */
interface Seen {
  readonly epoch: number;
  readonly nextTx: string;
}

interface ServerWatchDeps {
  readonly pool: Pool;
  readonly log: Logger;
  /** Below 1 while another process checks every second. */
  readonly rate?: () => number;
  /** Replaces the clock in tests. */
  readonly rest?: (ms: number, signal: AbortSignal) => Promise<void>;
}

export const EVERY_MS = 1_000;

/**
 * Looks every second until `signal` is aborted; behind another process every six or twelve, and whenever the pool has opened a connection,
 * because a promoted or restarted server has kept none. Throws {@link UnknownServer} when the server is no longer the known one.
 */
export async function watchServer(
  { pool, log, rate = () => 1, rest = restFor }: ServerWatchDeps,
  signal: AbortSignal,
): Promise<void> {
  let seen: Seen | null = null;
  while (!signal.aborted) {
    const opened = new AbortController();
    pool.onOpen = () => opened.abort();
    let restMs = EVERY_MS;
    try {
      seen = await recheck(pool, log, seen);
      restMs = EVERY_MS / rate();
    } catch (error) {
      if (error instanceof UnknownServer) throw error;
      // Unreachable or read-only: the parts that work on it report that.
      log.debug({ code: codeOf(error) }, 'cannot look at the server');
    }
    await rest(restMs, restMs > EVERY_MS ? AbortSignal.any([signal, opened.signal]) : signal);
  }
}

async function restFor(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined);
}

/** Throws {@link UnknownServer}, and as the pool does. */
export async function recheck(pool: Pool, log: Logger, seen: Seen | null): Promise<Seen> {
  const [{ fault, epoch, nextTx }] = await pool.run(
    (sql) => sql<[Seen & { fault: ServerFault | null }]>`
      select fault, epoch, next_tx::text as "nextTx"
      from look_at_server(${seen?.epoch ?? null}::int, ${seen?.nextTx ?? null}::text::xid8)`,
  );
  if (fault !== null) throw new UnknownServer(fault);
  if (seen !== null && epoch > seen.epoch) {
    log.warn(
      { epoch, before: seen.epoch, newest: await pool.run(readNewest) },
      'the server was promoted, or recovered to an earlier moment: a new epoch begins, and what was not copied by then is lost',
    );
  }
  return { epoch, nextTx };
}
