/**
 * The cost of an event from its commit to its evidence: CPU of PostgreSQL and of one poller while eight connections append
 * at a steady rate, or as fast as they can, and each event is delivered to one webhook. Beside it the floor (one insert and
 * its commit), the append alone, and a poller with nothing to do. All of it on one server, one after the other.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { createDatabase, insertWebhooks, startPoller, appendFor } from '../carteiro.ts';
import { atMost, type Bench, type Figure, type Measured, reported } from '../figure.ts';
import { cpuOf, cpuOfServer } from '../harness/cpu.ts';
import { median, percentile } from '../harness/statistics.ts';
import { dataOf, pathsOf } from '../workload.ts';
import { appendAtRate, appendFlatOut, latenciesOf, type Write } from './arrivals.ts';

const DATABASE = 'event_cost';
/** Events a second; null: as fast as the writers can. */
const LOADS = [
  { rate: 50, webhooks: 100, seconds: 15 },
  { rate: 100, webhooks: 100, seconds: 15 },
  { rate: 500, webhooks: 100, seconds: 10 },
  { rate: 2_000, webhooks: 100, seconds: 6 },
  { rate: null, webhooks: 100, seconds: 6 },
  { rate: null, webhooks: 10, seconds: 6 },
] as const;

/** CPU seconds per 10,000 events. */
interface Cost {
  readonly serverCpu: number;
  readonly pollerCpu: number;
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
}

const insertOnly: Write = async (sql, id, index) => {
  await sql`insert into floor (id, version, body) values (${id}, ${index}, ${dataOf(id)})`;
};

async function writesAlone({ server, isQuick }: Bench, url: string, write: Write): Promise<Cost> {
  await server.calm();
  await appendFlatOut(url, 0.5, write);
  const before = cpuOfServer(server.postmaster);
  const startedMs = performance.now();
  const count = await appendFlatOut(url, isQuick ? 1 : 5, write);
  const perSecond = (count * 1_000) / (performance.now() - startedMs);
  const serverCpu = ((cpuOfServer(server.postmaster) - before) / count) * 10_000;
  return { serverCpu, pollerCpu: 0, perSecond, p50: Number.NaN, p99: Number.NaN };
}

async function delivered(
  bench: Bench,
  url: string,
  partners: readonly string[],
  { rate, seconds }: { readonly rate: number | null; readonly seconds: number },
): Promise<Cost> {
  const { server, receiver, isQuick, seed } = bench;
  const lasts = isQuick ? 1 : seconds;
  const write = appendFor(partners);
  await server.calm();
  const poller = await startPoller(url);
  try {
    await receiver.reset();
    const warm = await appendFlatOut(url, 0.5, write);
    await receiver.reached(warm);
    await sleep(500);
    await receiver.reset(true);
    const [serverBefore, pollerBefore] = [cpuOfServer(server.postmaster), cpuOf(poller.pid)];
    const startedMs = performance.now();
    const commits = new Map<string, number>();
    let count: number;
    if (rate === null) count = await appendFlatOut(url, lasts, write);
    else {
      for (const [id, atMs] of await appendAtRate({ url, rate, seconds: lasts, seed, write })) commits.set(id, atMs);
      count = commits.size;
    }
    await receiver.reached(count);
    const perSecond = (count * 1_000) / (performance.now() - startedMs);
    await sleep(200);
    const latencies = commits.size > 0 ? latenciesOf(commits, await receiver.arrivals()) : [Number.NaN];
    return {
      serverCpu: ((cpuOfServer(server.postmaster) - serverBefore) / count) * 10_000,
      pollerCpu: ((cpuOf(poller.pid) - pollerBefore) / count) * 10_000,
      perSecond,
      p50: percentile(latencies, 0.5),
      p99: percentile(latencies, 0.99),
    };
  } finally {
    await poller.end('SIGTERM');
  }
}

/** Per cent of a core that `pollers` pollers and their PostgreSQL take with nothing to do. */
async function idleShare({ server, isQuick }: Bench, url: string, pollers: number): Promise<number> {
  const started: Awaited<ReturnType<typeof startPoller>>[] = [];
  try {
    for (let index = 0; index < pollers; index += 1) started.push(await startPoller(url));
    // For its first 25 s a poller looks for dead ones at every beat, and it takes some until it looks for work as seldom as it ever will.
    await sleep(isQuick ? 500 : 30_000);
    const all = () => started.reduce((sum, { pid }) => sum + cpuOf(pid), cpuOfServer(server.postmaster));
    const before = all();
    const startedMs = performance.now();
    await sleep(isQuick ? 500 : 10_000);
    return ((all() - before) * 100_000) / (performance.now() - startedMs);
  } finally {
    await Promise.all(started.map((poller) => poller.end('SIGTERM')));
  }
}

const report = ({ serverCpu, pollerCpu, perSecond, p50, p99 }: Cost): string =>
  `PostgreSQL ${serverCpu.toFixed(2)}, poller ${pollerCpu.toFixed(2)} s per 10,000, ${perSecond.toFixed(0)}/s, ` +
  `commit → arrival p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`;

async function run(bench: Bench): Promise<Measured[]> {
  const { server, receiver, progress, rounds } = bench;
  const only = process.env['BENCH_EVENT_COST']?.split(',');
  const url = await createDatabase(server, DATABASE);
  const webhooks = await server.on(DATABASE, async (sql) => {
    await sql`create table floor (id uuid primary key, version int not null, body text not null)`;
    const paths = pathsOf(100);
    return insertWebhooks(sql, receiver.url, paths);
  });
  const partners = webhooks.map(({ partnerId }) => partnerId);
  const costs = new Map<string, Cost[]>();
  const shares = new Map<number, number[]>();

  async function note(id: string, measure: () => Promise<Cost>): Promise<void> {
    if (only && !only.includes(id)) return;
    const cost = await progress.phase(`event-cost, ${id}`, 120, measure);
    costs.set(id, [...(costs.get(id) ?? []), cost]);
    progress.note(`event-cost, ${id}: ${report(cost)}`);
  }
  for (let round = 1; round <= rounds; round += 1) {
    await note('floor', () => writesAlone(bench, url, insertOnly));
    await note('append', () => writesAlone(bench, url, appendFor(partners)));
    // What the appends alone left is delivered before the others begin.
    await server.on(DATABASE, (sql) => sql`truncate deliveries, pending, claims cascade`);
    for (const load of LOADS) {
      const id = `${load.rate ?? 'full'}_${load.webhooks}`;
      await note(id, () => delivered(bench, url, partners.slice(0, load.webhooks), load));
    }
    for (const pollers of [1, 30]) {
      const id = `idle_${pollers}`;
      if (only && !only.includes(id)) continue;
      const share = await progress.phase(`event-cost, ${id}`, 120, () => idleShare(bench, url, pollers));
      shares.set(pollers, [...(shares.get(pollers) ?? []), share]);
      progress.note(`event-cost, ${id}: ${share.toFixed(1)} % of a core`);
    }
  }
  await server.drop(DATABASE);
  return [...costsTold(costs), ...idle(shares)];
}

function costsTold(costs: ReadonlyMap<string, readonly Cost[]>): Measured[] {
  return [...costs].flatMap(([id, all]) => {
    const of = (...keys: (keyof Cost)[]) => median(all.map((cost) => keys.reduce((sum, key) => sum + cost[key], 0)));
    const name = id.replace(/^(\w+)_(\d+)$/, '$1/s over $2 webhooks').replace('full/s', 'full rate');
    const measured = (what: string, value: number, unit: string, bar: Measured['bar'] = null) =>
      reported(`event_${id}_${what.replaceAll(' ', '_')}`, `${name}: ${what}`, value, unit, bar);
    const cpu = measured('CPU', of('serverCpu', 'pollerCpu'), 's/10,000');
    const rate = measured('events', of('perSecond'), '/s');
    if (Number.isNaN(of('p50'))) return [cpu, rate];
    const p99Bar = id === '100_100' ? 6 : 25;
    return [
      cpu,
      measured('p50', of('p50'), 'ms', id === '100_100' ? atMost(2) : null),
      measured('p99', of('p99'), 'ms', atMost(p99Bar)),
    ];
  });
}

function idle(shares: ReadonlyMap<number, readonly number[]>): Measured[] {
  return [...shares].map(([pollers, all]) =>
    reported(
      `idle_${pollers}`,
      `${pollers} idle pollers, with PostgreSQL`,
      median(all),
      '% of a core',
      atMost(pollers === 1 ? 1 : 4),
    ),
  );
}

export const eventCost: Figure = {
  id: 'event-cost',
  about: 'CPU of an event from commit to evidence at 50 to 2,000/s and flat out, beside the floor; idle pollers',
  run,
};
