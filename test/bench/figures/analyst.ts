/**
 * The analyst's hour: events at a rate for BENCH_ANALYST_MINUTES (60), on a server of its own, beside three overlapping reports of 120 s, a
 * transaction with an id that is idle all the time, and a logical slot that nobody reads: nothing that dies can be vacuumed. Before it a
 * quiet half minute, behind it how long until a window is as quick as twice that. `doctor` has to name each culprit while they are there.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Sql } from '../../../src/db/pool.ts';
import { sandboxOn, startCommand } from '../../support/command.ts';
import { appendFor, createDatabase, insertWebhooks, startPoller } from '../carteiro.ts';
import { atLeast, atMost, type Bench, type Figure, type Measured, reported } from '../figure.ts';
import { connect, startServer } from '../harness/server.ts';
import { pathsOf } from '../workload.ts';
import { feel } from './arrivals.ts';
import { HOT, hotSizes } from './endurance.ts';

const DATABASE = 'analyst';
const WEBHOOKS = 100;
const RATE = Number(process.env['BENCH_ANALYST_RATE'] ?? 800);
const REPORTS = 3;
const SLOT = 'nobody_reads_this';

const sumOf = (sizes: readonly number[]): number => sizes.reduce((sum, one) => sum + one, 0);

/** Reports one behind another until `isOver`; the first begins later by a part of their length. */
async function report(url: string, number: number, seconds: number, isOver: AbortSignal): Promise<void> {
  const sql = connect(url);
  await sql`select set_config('application_name', ${`report ${number}`}, false)`;
  await sleep((seconds * 1_000 * number) / REPORTS, null, { signal: isOver }).catch(() => undefined);
  while (!isOver.aborted)
    await sql.begin('isolation level repeatable read', async (tx) => {
      await tx`select count(*) from attempts`;
      await sleep(seconds * 1_000, null, { signal: isOver }).catch(() => undefined);
    });
  await sql.end({ timeout: 5 });
}

/** Which of the culprits `doctor` names. */
async function named(url: string, idle: string): Promise<number> {
  const { stdout } = await startCommand(['doctor'], sandboxOn(url)).end();
  return [idle, 'report 0', 'report 1', 'report 2', SLOT].filter((culprit) => stdout.includes(culprit)).length;
}

async function run({ receiver, progress, isQuick, seed }: Bench): Promise<Measured[]> {
  const minutes = isQuick ? 0.2 : Number(process.env['BENCH_ANALYST_MINUTES'] ?? 60);
  const [windowS, reportS] = isQuick ? [2, 6] : [30, 120];
  const server = await startServer({ wal_level: 'logical' });
  const url = await createDatabase(server, DATABASE);
  const webhooks = await server.on(DATABASE, (sql) => insertWebhooks(sql, receiver.url, pathsOf(WEBHOOKS)));
  const write = appendFor(webhooks.map(({ partnerId }) => partnerId));
  await server.wear();
  const poller = await startPoller(url);
  const holder = connect(url);
  const isOver = new AbortController();
  const sizesOf = () => server.on(DATABASE, hotSizes);
  let poll = 0;
  const window = () => feel(receiver, { url, rate: RATE, seconds: windowS, seed: seed + (poll += 1), write });
  try {
    await window();
    const quiet = await window();
    const before = await sizesOf();
    progress.note(`analyst, quiet: p50 / p99 ${quiet.p50.toFixed(1)} / ${quiet.p99.toFixed(1)} ms`);

    // The slot first: it waits for transactions that are open.
    await server.on(DATABASE, (sql) => sql`select pg_create_logical_replication_slot(${SLOT}, 'pgoutput')`);
    const [{ pid }] = await begin(holder);
    const reports = Array.from({ length: REPORTS }, (_, number) => report(url, number, reportS, isOver.signal));
    const [p99s, sizes]: [number[], number[]] = [[], []];
    let seen = 0;
    for (let done = 0; done < minutes * 60; done += windowS) {
      const felt = await window();
      p99s.push(felt.p99);
      sizes.push(sumOf(await sizesOf()));
      progress.note(
        `analyst, ${done + windowS} s: p50 / p99 ${felt.p50.toFixed(1)} / ${felt.p99.toFixed(1)} ms, hot ${(sumOf(sizes.slice(-1)) / 2 ** 20).toFixed(1)} MiB`,
      );
      if (done + windowS < (minutes * 60) / 2 || seen > 0) continue;
      // The windows end when a report begins.
      await sleep((reportS * 1_000) / 12);
      seen = await named(url, `process ${pid} `);
    }
    const backlog = await server.on(DATABASE, countPending);

    isOver.abort();
    await holder`rollback`;
    await Promise.all(reports);
    await server.on(DATABASE, (sql) => sql`select pg_drop_replication_slot(${SLOT})`);
    const endedMs = performance.now();
    let recoveredS = Number.POSITIVE_INFINITY;
    for (let left = 6; left > 0 && recoveredS === Number.POSITIVE_INFINITY; left -= 1) {
      const felt = await feel(receiver, { url, rate: RATE, seconds: windowS / 3, seed: seed + (poll += 1), write });
      if (felt.p99 <= 2 * quiet.p99) recoveredS = (performance.now() - endedMs) / 1_000;
    }
    const about = `of ${minutes} min at ${RATE}/s beside reports, an idle transaction and a dead slot`;
    return [
      reported('analyst_quiet', 'commit → arrival, p99, quiet', quiet.p99, 'ms'),
      reported('analyst_p99', `… the worst half minute ${about}`, Math.max(...p99s) / quiet.p99, '×', atMost(2)),
      reported('analyst_backlog', '… left pending at its end', backlog, '', atMost(0)),
      reported(
        'analyst_size',
        `… size of ${HOT.length} hot tables and indexes, most against before`,
        Math.max(...sizes) / sumOf(before),
        '×',
        atMost(3),
      ),
      reported('analyst_named', '… culprits that doctor names, of 5', seen, '', atLeast(REPORTS + 2)),
      reported(
        'analyst_recovered',
        '… until ten seconds are as quick as twice the quiet ones',
        recoveredS,
        's',
        atMost(60),
      ),
    ];
  } finally {
    isOver.abort();
    await holder.end({ timeout: 1 });
    await poller.end('SIGTERM');
    await server.remove();
  }
}

/** Begins a transaction with an id, and leaves it open. */
async function begin(sql: Sql): Promise<[{ pid: number }]> {
  await sql`begin`;
  return sql<[{ pid: number }]>`select pg_backend_pid() as pid, pg_current_xact_id()`;
}

async function countPending(sql: Sql): Promise<number> {
  const [row] = await sql<[{ count: number }]>`select count(*)::int as count from pending`;
  return row.count;
}

export const analyst: Figure = {
  id: 'analyst',
  about: 'events at 800/s for an hour (BENCH_ANALYST_MINUTES, BENCH_ANALYST_RATE) beside all that holds vacuum back',
  run,
};
