/**
 * Endurance: as many claims and records as 30 minutes at 1,000/s bring, at 4,000/s, with autovacuum on as it is by default,
 * on 100 webhooks. Deliveries come, are claimed and recorded in a steady state, one batch being recorded
 * while the next is claimed. The time of a claim and the sizes of what is hot must not grow: `pending`, `claims` and
 * `lanes`. (`deliveries`, `attempts` and `messages` are the history: they grow by design.)
 * Then a REPEATABLE READ snapshot is held open for 60 s, at the same pace: nothing can be vacuumed meanwhile.
 */
import { setInterval, setTimeout as sleep } from 'node:timers/promises';
import type { Sql } from '../../../src/db/pool.ts';
import { createDatabase, insertWebhooks } from '../carteiro.ts';
import { atMost, type Bench, type Figure, type Measured, reported } from '../figure.ts';
import { connect } from '../harness/server.ts';
import { percentile } from '../harness/statistics.ts';
import { drive, type Load } from '../steady.ts';
import { pathsOf } from '../workload.ts';

const DATABASE = 'endurance';
const WEBHOOKS = 100;
/** Events a second: four times what is asked for, and less than two saturated cores, whose queues would be the figure. */
const PACE = 4_000;
const SAMPLE_MS = 500;
export const HOT = [
  'pending',
  'pending_webhook_id_due_at_delivery_id_pk',
  'pending_by_tx',
  'claims',
  'claims_of',
  'lanes',
];

interface Sample {
  /** Deliveries recorded when it was taken. */
  readonly done: number;
  readonly sizes: readonly number[];
}

interface SampledLoad extends Load {
  readonly samples: Sample[];
}

/** The size of each of {@link HOT}, in bytes. */
export async function hotSizes(sql: Sql): Promise<number[]> {
  const rows = await sql<{ bytes: number }[]>`
    select pg_relation_size(name::regclass)::float8 as bytes from unnest(${HOT}::text[]) with ordinality as hot (name, n) order by n`;
  return rows.map((row) => row.bytes);
}

const inMiB = (bytes: number): string => (bytes / 2 ** 20).toFixed(1);
const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, one) => sum + one, 0);

async function sampling(url: string, load: SampledLoad, work: () => Promise<void>): Promise<void> {
  const sql = connect(url);
  const isOver = new AbortController();
  const sample = async () => {
    for await (const _ of setInterval(SAMPLE_MS, null, { signal: isOver.signal })) {
      load.samples.push({ done: load.done, sizes: await hotSizes(sql) });
    }
  };
  const failed = sample().catch((error: Error) => (isOver.signal.aborted ? null : error));
  try {
    await work();
  } finally {
    isOver.abort();
    await failed;
    await sql.end({ timeout: 5 });
  }
  const error = await failed;
  if (error) throw error;
}

async function run(bench: Bench): Promise<Measured[]> {
  const { server, receiver, progress, isQuick } = bench;
  const total = isQuick ? 10_000 : 1_800_000;
  const [calmMs, heldMs] = isQuick ? [1_000, 2_000] : [15_000, 60_000];
  const url = await createDatabase(server, DATABASE);
  const webhooks = await server.on(DATABASE, (sql) => insertWebhooks(sql, receiver.url, pathsOf(WEBHOOKS, 'e')));
  const ids = webhooks.map((webhook) => webhook.id);
  await server.wear();

  const load: SampledLoad = { done: 0, claims: [], samples: [] };
  const startedMs = performance.now();
  await progress.phase('endurance', 900, (report) =>
    sampling(url, load, () =>
      drive(url, ids, PACE, load, () => {
        report(`${load.done} of ${total} claimed and recorded`);
        return load.done >= total;
      }),
    ),
  );
  const perSecond = load.done / ((performance.now() - startedMs) / 1_000);
  const tenth = (part: number) => (at: { readonly done: number }) => Math.floor((at.done / total) * 10) === part;
  const p99 = (part: number) =>
    percentile(
      load.claims.filter(tenth(part)).map((one) => one.tookMs),
      0.99,
    );
  /** NaN without a sample, which no bar holds for. */
  const largestOf = (part: number, of: (sizes: readonly number[]) => number) => {
    const samples = load.samples.filter(tenth(part));
    return samples.length === 0 ? Number.NaN : Math.max(...samples.map(({ sizes }) => of(sizes)));
  };
  const size = (part: number) => largestOf(part, sumOf);
  const tenths = Array.from({ length: 10 }, (_, part) => part);
  progress.note(
    `endurance at ${perSecond.toFixed(0)}/s; claim p99 by tenths, ms: ${tenths.map((part) => p99(part).toFixed(1)).join(' ')}`,
  );
  progress.note(`hot sizes by tenths, MiB: ${tenths.map((part) => inMiB(size(part))).join(' ')}`);
  const grown = { name: '?', by: Number.NaN };
  for (const [index, name] of HOT.entries()) {
    const largest = (part: number) => largestOf(part, (sizes) => sizes[index] ?? 0);
    progress.note(`  ${name}: ${tenths.map((part) => inMiB(largest(part))).join(' ')}`);
    const by = largest(9) / largest(0);
    if (!(by <= grown.by)) Object.assign(grown, { name, by });
  }

  const [calm, held] = await snapshotPhase(bench, url, ids, calmMs, heldMs);
  await server.drop(DATABASE);
  return [
    reported('endurance_per_second', 'claims and records without HTTP', perSecond, '/s'),
    reported('endurance_claim_first', 'claim p99, first tenth of 1,800,000', p99(0), 'ms'),
    reported('endurance_claim', 'claim p99, last tenth against first', p99(9) / p99(0), '×', atMost(1.3)),
    reported('endurance_size', 'size of what is hot, last tenth against first', size(9) / size(0), '×', atMost(1.3)),
    reported(
      'endurance_size_worst',
      `… of it what grows most: ${grown.name}, to ${inMiB(largestOf(9, (sizes) => sizes[HOT.indexOf(grown.name)] ?? 0))} MiB`,
      grown.by,
      '×',
    ),
    reported('snapshot_calm', 'claim p99 before a snapshot is held open', calm, 'ms'),
    reported('snapshot_claim', 'claim p99 in the last third of 60 s with it', held / calm, '×', atMost(3)),
  ];
}

/** Claim p99 before a snapshot is held open, and in the last third of the time that it is. */
async function snapshotPhase(
  { progress }: Bench,
  url: string,
  ids: readonly string[],
  calmMs: number,
  heldMs: number,
): Promise<[number, number]> {
  const load: Load = { done: 0, claims: [] };
  const holder = connect(url);
  const beganMs = performance.now();
  const heldFrom = beganMs + calmMs;
  const until = heldFrom + heldMs;
  const hold = async () => {
    await sleep(calmMs);
    await holder.begin('isolation level repeatable read', async (tx) => {
      await tx`select count(*) from lanes`;
      await sleep(heldMs);
    });
  };
  await progress.phase('snapshot held open', (calmMs + heldMs) / 1_000 + 60, async (report) => {
    const isOver = () => {
      report(`${load.done} claimed and recorded`);
      return performance.now() >= until;
    };
    await Promise.all([hold(), drive(url, ids, PACE, load, isOver)]);
  });
  await holder.end({ timeout: 5 });
  const p99 = (from: number, to: number) =>
    percentile(
      load.claims.filter(({ atMs }) => atMs >= from && atMs < to).map((one) => one.tookMs),
      0.99,
    );
  const sixths = Array.from({ length: 6 }, (_, part) =>
    p99(heldFrom + (heldMs / 6) * part, heldFrom + (heldMs / 6) * (part + 1)),
  );
  const calm = p99(beganMs + calmMs / 3, heldFrom);
  progress.note(
    `claim p99 before ${calm.toFixed(1)} ms; by sixths of the snapshot, ms: ${sixths.map((ms) => ms.toFixed(1)).join(' ')}`,
  );
  return [calm, p99(until - heldMs / 3, until)];
}

export const endurance: Figure = {
  id: 'endurance',
  about:
    '1,800,000 claims and records with autovacuum: claim p99 and hot sizes stay flat; then with a snapshot held 60 s',
  run,
};
