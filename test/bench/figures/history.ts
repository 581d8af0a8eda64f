/**
 * History beside a partner that runs: how many events a second come in, how many bytes each takes, and what the partner feels:
 * commit → arrival at 100 events/s, without an import and beside one at its default pace, in turns.
 */
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { USUAL_PACE } from '../../../src/core/history/import-history.ts';
import { startCommand } from '../../support/command.ts';
import { yearOfHistory } from '../../support/history.ts';
import { carteiro, startPoller, appendFor, partnersOf } from '../carteiro.ts';
import { atMost, type Bench, type Figure, type Measured, reported } from '../figure.ts';
import { median } from '../harness/statistics.ts';
import { feel } from './arrivals.ts';

const DATABASE = 'history';
const WEBHOOKS = 100;
const RATE = 100;
const EVENTS_A_LOAN = 5;
type Pace = Readonly<Record<keyof typeof USUAL_PACE, number>>;

/** Imports `loans` and says how many events a second came in. */
async function importLoans(
  url: string,
  partnerId: string,
  loans: number,
  seed: string,
  { rate, batch }: Pace,
): Promise<number> {
  const file = join(tmpdir(), `carteiro-history-${process.pid}.ndjson`);
  const lines = yearOfHistory(partnerId, loans, new Date(), seed).map((event) => `${JSON.stringify(event)}\n`);
  await pipeline(Readable.from(lines), createWriteStream(file));
  try {
    const startedMs = performance.now();
    const env = { DATABASE_URL: url, SANDBOX: 'true', LOG_LEVEL: 'warn' };
    const { code, stderr } = await startCommand(
      ['import', file, '--rate', String(rate), '--batch', String(batch)],
      env,
    ).end();
    if (code !== 0) throw new Error(stderr);
    return (loans * EVENTS_A_LOAN * 1_000) / (performance.now() - startedMs);
  } finally {
    await rm(file);
  }
}

async function run(bench: Bench): Promise<Measured[]> {
  const { server, receiver, progress, rounds, isQuick, seed } = bench;
  const loans = Number(process.env['BENCH_HISTORY_LOANS'] ?? (isQuick ? 500 : 100_000));
  const seconds = isQuick ? 3 : 20;
  await carteiro.seed(server, DATABASE, receiver.url, 0, WEBHOOKS);
  const url = server.urlOf(DATABASE);
  const partners = await server.on(DATABASE, partnersOf);
  const [first = ''] = partners;
  const write = appendFor(partners);
  /** What the partner feels, in ms. */
  const p99 = async (lastsS: number) => (await feel(receiver, { url, rate: RATE, seconds: lastsS, seed, write })).p99;
  const poller = await startPoller(url);
  const speeds: number[] = [];
  const ratios: number[] = [];
  const felt: number[] = [];
  try {
    const fast = await progress.phase(`import of ${loans} loans, as fast as it goes`, 3_600, () =>
      importLoans(url, first, loans, 'fast', { rate: 0, batch: 1_000 }),
    );
    const bytes = await server.on(DATABASE, async (sql) => {
      const [row] = await sql<[{ bytes: number }]>`
        select (pg_total_relation_size('events') + pg_total_relation_size('loans')
                + pg_total_relation_size('seal_trees'))::float8 as bytes`;
      return row.bytes / (loans * EVENTS_A_LOAN);
    });
    progress.note(`${fast.toFixed(0)} events/s and ${bytes.toFixed(0)} B/event, as fast as it goes`);
    await p99(3);
    for (let round = 1; round <= rounds; round += 1) {
      await server.calm();
      const alone = await p99(seconds);
      const importing = importLoans(
        url,
        first,
        isQuick ? loans : ((seconds + 30) * USUAL_PACE.rate) / EVENTS_A_LOAN,
        `round ${round}`,
        USUAL_PACE,
      );
      await sleep(isQuick ? 500 : 5_000);
      const beside = await p99(seconds);
      speeds.push(await importing);
      felt.push(beside);
      ratios.push(beside / alone);
      progress.note(
        `round ${round}/${rounds}: p99 ${alone.toFixed(1)} ms alone, ${beside.toFixed(1)} ms beside an import`,
      );
    }
    return [
      reported('history_fast', `history, ${loans} loans of 5 events, --rate 0`, fast, 'events/s'),
      reported('history_paced', '… beside 100 events/s, at the default pace', median(speeds), 'events/s'),
      reported('history_bytes', '… log, indexes, loans and seals', bytes, 'B/event'),
      reported('history_felt', 'commit → arrival p99 beside it', median(felt), 'ms'),
      reported('history_ratio', '… against without an import', median(ratios), '×', atMost(2)),
    ];
  } finally {
    await poller.end('SIGTERM');
    await server.drop(DATABASE);
  }
}

export const history: Figure = {
  id: 'history',
  about: 'an import of history: events/s, bytes, and what a running partner feels meanwhile',
  run,
};
