/**
 * This tree beside another checkout (BENCH_BESIDE, a folder with its node_modules), in turns on one server, each on databases
 * of its own: what a delivery takes of PostgreSQL and of one poller in a drain, as fast as events come, at 100/s and 50/s, and at
 * 100/s beside a snapshot that is held; and what an idle poller takes. The ratios are medians of turns that stood side by side.
 * BENCH_BESIDE_ONLY names some of these, separated by commas.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { appendEvents, appendFor, insertWebhooks, partnersOf, startPoller } from '../carteiro.ts';
import { type Bench, type Figure, type Measured, reported } from '../figure.ts';
import { cpuOf, cpuOfServer } from '../harness/cpu.ts';
import { connect } from '../harness/server.ts';
import { median, percentile } from '../harness/statistics.ts';
import { pathsOf } from '../workload.ts';
import { sandboxOn, startCommand } from '../../support/command.ts';
import { appendAtRate, appendFlatOut, latenciesOf } from './arrivals.ts';

const WEBHOOKS = 100;

interface Load {
  /** Events a second; null: as fast as the writers can. Absent: a backlog. */
  readonly rate?: number | null;
  readonly seconds: number;
  readonly isHeld?: boolean;
}

const LOADS: Readonly<Record<string, Load>> = {
  drain: { seconds: 20 },
  full: { rate: null, seconds: 6 },
  rate_100: { rate: 100, seconds: 15 },
  rate_50: { rate: 50, seconds: 15 },
  held: { rate: 100, seconds: 30, isHeld: true },
  idle: { rate: 0, seconds: 15 },
};

/** Of a delivery; of an idle poller, of a millisecond. */
const UNITS = { postgres: 'us', node: 'us', wal: 'B', pages: 'pages', p50: 'ms', p99: 'ms' } as const;
type Cost = Readonly<Record<keyof typeof UNITS, number>>;

interface Tree {
  readonly name: string;
  readonly main: string | undefined;
}

/** What the server has done for `database` so far, sessions that have ended included. */
async function spent({ server }: Bench, database: string) {
  const [row] = await server.on(
    'postgres',
    (sql) => sql<[{ wal: number; pages: number }]>`
      select (pg_current_wal_insert_lsn() - '0/0')::float8 as wal, (blks_hit + blks_read)::float8 as pages
      from pg_stat_database where datname = ${database}`,
  );
  return { ...row, cpu: cpuOfServer(server.postmaster) };
}

async function seed({ server, receiver, isQuick }: Bench, { name, main }: Tree): Promise<void> {
  for (const database of [`beside_${name}`, `beside_${name}_drain`]) {
    const url = await server.create(database);
    const { code, stderr } = await startCommand(['migrate'], sandboxOn(url), main).end();
    if (code !== 0) throw new Error(`the tree ${name} cannot migrate: ${stderr}`);
    await server.on(database, async (sql) => {
      const webhooks = await insertWebhooks(sql, receiver.url, pathsOf(WEBHOOKS));
      const partners = webhooks.map(({ partnerId }) => partnerId);
      if (database.endsWith('_drain')) await appendEvents(sql, partners, isQuick ? 1_000 : 20_000);
      await sql`vacuum (analyze)`;
    });
  }
}

/** Brings `load`; resolves with how many events came, and with how long each took to arrive, where that is told. */
async function bring({ receiver, seed: random }: Bench, url: string, load: Load, seconds: number) {
  const { rate } = load;
  if (rate === undefined || rate === 0) {
    await (rate === 0 ? sleep(seconds * 1_000) : receiver.reached(await backlogOf(url)));
    return { count: rate === 0 ? seconds * 1_000 : await backlogOf(url), latencies: [] };
  }
  const sql = connect(url);
  const write = appendFor(await partnersOf(sql));
  await sql.end({ timeout: 5 });
  const commits = rate === null ? null : await appendAtRate({ url, rate, seconds, seed: random, write });
  const count = commits?.size ?? (await appendFlatOut(url, seconds, write));
  await receiver.reached(count);
  return { count, latencies: commits === null ? [] : latenciesOf(commits, await receiver.arrivals()) };
}

async function backlogOf(url: string): Promise<number> {
  const sql = connect(url);
  const [row] = await sql<[{ count: number }]>`select count(*)::int as count from deliveries`;
  await sql.end({ timeout: 5 });
  return row.count;
}

async function measure(bench: Bench, { name, main }: Tree, load: Load): Promise<Cost> {
  const { server, receiver, isQuick } = bench;
  const isDrain = load.rate === undefined;
  const database = isDrain ? 'beside_now' : `beside_${name}`;
  await server.drop('beside_now');
  const url = isDrain ? await server.create(database, `beside_${name}_drain`) : server.urlOf(database);
  const holder = connect(url);
  await server.calm();
  await receiver.reset(typeof load.rate === 'number');
  if (load.isHeld) {
    await holder`begin isolation level repeatable read`;
    await holder`select count(*) from lanes`;
  }
  const first = isDrain ? await spent(bench, database) : null;
  const poller = await startPoller(url, {}, main);
  if (load.rate === 0) await sleep(isQuick ? 500 : 30_000);
  else if (!isDrain) await sleep(1_500);
  const nodeBefore = isDrain ? 0 : cpuOf(poller.pid);
  const before = first ?? (await spent(bench, database));
  const { count, latencies } = await bring(bench, url, load, isQuick ? 1 : load.seconds);
  // What is still to be recorded is part of the work.
  await sleep(300);
  const node = cpuOf(poller.pid) - nodeBefore;
  const { cpu } = await spent(bench, database);
  await poller.end('SIGTERM');
  const after = await spent(bench, database);
  await holder.end({ timeout: 5 });
  return {
    postgres: ((cpu - before.cpu) / count) * 1e6,
    node: (node / count) * 1e6,
    wal: (after.wal - before.wal) / count,
    pages: (after.pages - before.pages) / count,
    p50: percentile(latencies, 0.5),
    p99: percentile(latencies, 0.99),
  };
}

async function run(bench: Bench): Promise<Measured[]> {
  const { progress, rounds } = bench;
  const other = process.env['BENCH_BESIDE'];
  const only = process.env['BENCH_BESIDE_ONLY']?.split(',') ?? Object.keys(LOADS);
  const trees: Tree[] = [{ name: 'this', main: undefined }];
  if (other) trees.push({ name: 'other', main: `${other}/src/main.ts` });
  for (const tree of trees) await progress.phase(`beside, seeding the ${tree.name} tree`, 300, () => seed(bench, tree));
  const measured: Measured[] = [];
  for (const [id, load] of Object.entries(LOADS)) {
    if (!only.includes(id)) continue;
    const costs: Cost[][] = trees.map(() => []);
    for (let round = 1; round <= rounds; round += 1)
      for (const [index, tree] of trees.entries()) {
        const what = `beside, ${id}, ${tree.name} tree, ${round}/${rounds}`;
        const cost = await progress.phase(what, 300, () => measure(bench, tree, load));
        costs[index]?.push(cost);
        const words = Object.entries(UNITS).map(
          ([key, unit]) => `${key} ${cost[key as keyof Cost].toFixed(1)} ${unit}`,
        );
        progress.note(`${what}: ${words.join(', ')}`);
      }
    measured.push(...report(id, costs));
  }
  return measured;
}

function report(id: string, [own = [], others = []]: readonly (readonly Cost[])[]): Measured[] {
  return (Object.keys(UNITS) as (keyof Cost)[])
    .filter((key) => !Number.isNaN(own[0]?.[key]))
    .flatMap((key) => {
      const label = `${id}: ${key}`;
      const ratios = own.map((cost, round) => cost[key] / (others[round]?.[key] ?? Number.NaN));
      const beside = reported(`beside_${id}_${key}_ratio`, `${label} against the other tree's`, median(ratios), '×');
      const here = reported(`beside_${id}_${key}`, label, median(own.map((cost) => cost[key])), UNITS[key]);
      return others.length > 0 ? [here, beside] : [here];
    });
}

export const beside: Figure = {
  id: 'beside',
  about:
    'what a delivery takes here and in another checkout (BENCH_BESIDE), in turns: drain, full rate, 100/s, 50/s, held, idle',
  run,
};
