/** A poller's turns one after the other, each with its record, on sessions whose pages are counted. */
import { randomUUID } from 'node:crypto';
import { Pool, type Sql } from '../../src/db/pool.ts';
import { SESSION_SETTINGS } from '../../src/delivery/poller/session.ts';
import { takeTurn, type Turn } from '../../src/delivery/queue/claim.ts';
import { record } from '../../src/delivery/queue/record.ts';
import type { Report } from '../../src/delivery/queue/report.ts';
import { Cleaner } from '../../src/delivery/queue/upkeep/cleaner.ts';
import { DUE_FROM_EVER } from '../../src/delivery/queue/upkeep/due-mark.ts';
import { DELIVERED, reportFor } from '../support/delivered.ts';
import { silentLog } from '../support/silent-log.ts';
import { insertFanOut } from './backlog.ts';
import { append, type BenchWebhook } from './carteiro.ts';
import { connect } from './harness/server.ts';

const SLOTS = 512;
/** The due mark is at least this old (due-mark.ts). No lane waits for so long here. */
const MARK_MS = 10_000;

export interface TurnsOptions {
  readonly webhooks: readonly BenchWebhook[];
  /** What a turn brings: an event for one webhook after the other, or one for each; absent: nothing. */
  readonly brings?: 'one' | 'each';
  /** Turns are this far apart, by a clock of their own; absent: the server's clock. */
  readonly apartMs?: number;
  readonly hasMark: boolean;
  readonly isCleaned: boolean;
}

/** Pages that the session `pid` has looked at; it must have told its counts. */
async function pagesOf(sql: Sql, pid: number): Promise<number> {
  const [row] = await sql<[{ pages: number }]>`
    select sum(coalesce(hits, 0) + coalesce(reads, 0))::float8 as pages from pg_stat_get_backend_io(${pid})`;
  return row.pages;
}

/** Pages that `work` looks at on a session of its own. */
export async function countPages(url: string, work: (sql: Sql) => Promise<unknown>): Promise<number> {
  const sql = connect(url);
  try {
    const [{ pid }] = await sql<[{ pid: number }]>`select pg_backend_pid() as pid`;
    await work(sql);
    await sql`select pg_stat_force_next_flush()`;
    return await pagesOf(sql, pid);
  } finally {
    await sql.end({ timeout: 5 });
  }
}

export async function openTurns(url: string, { webhooks, brings, apartMs, hasMark, isCleaned }: TurnsOptions) {
  const open = () => new Pool({ url, name: 'bench', max: 1, deadlineMs: 60_000, settings: SESSION_SETTINGS });
  const [claims, records, upkeep, core, reader] = [open(), open(), open(), connect(url), connect(url)];
  const cleaner = new Cleaner({ pool: upkeep, log: silentLog });
  const [{ pid }] = await claims.run((sql) => sql<[{ pid: number }]>`select pg_backend_pid() as pid`);
  const startMs = Date.now();
  let turns = 0;
  let reports: Report[] = [];

  async function bring(): Promise<void> {
    if (brings === 'one') await append(core, randomUUID(), webhooks[turns % webhooks.length]?.partnerId ?? '');
    if (brings === 'each')
      await insertFanOut(
        core,
        webhooks.map(({ id }) => id),
      );
  }
  async function tell(at: Date | null): Promise<void> {
    if (reports.length > 0) await record(records, reports, () => 0, at);
  }
  async function isWaiting(): Promise<boolean> {
    const [row] = await reader<[{ waits: boolean }]>`
      select exists (select from pg_stat_activity where pid = ${pid} and wait_event = 'PgSleep') as waits`;
    return row.waits;
  }
  /** With the server's clock, a turn that finds nothing waits already when the outcomes of the turn before it are recorded. */
  async function take(name: string, at: Date | null): Promise<Turn> {
    const mark = at !== null && hasMark ? new Date(at.getTime() - MARK_MS).toISOString() : DUE_FROM_EVER;
    const taking = (ms: number) =>
      claims.transaction((tx) => takeTurn(tx, name, SLOTS, at, mark, null, { ms, napMs: 1 }));
    if (brings !== 'each') {
      await tell(at);
      await bring();
      return taking(0);
    }
    const turn = taking(10_000);
    while (!(await isWaiting()));
    await tell(at);
    await bring();
    return turn;
  }
  return {
    async turn(): Promise<void> {
      const at = apartMs === undefined ? null : new Date(startMs + turns * apartMs);
      const name = `bench/${turns}`;
      const { deliveries, arrived } = await take(name, at);
      turns += 1;
      reports = deliveries.map((delivery) => reportFor(delivery, name, DELIVERED));
      if (isCleaned) cleaner.count(arrived);
      await cleaner.settled();
    },
    /** Pages that the session that claims has looked at so far. */
    async pages(): Promise<number> {
      await claims.run((sql) => sql`select pg_stat_force_next_flush()`);
      return pagesOf(reader, pid);
    },
    async close(): Promise<void> {
      await Promise.all([claims, records, upkeep].map((pool) => pool.close()));
      await Promise.all([core, reader].map((sql) => sql.end({ timeout: 5 })));
    },
  };
}
