/**
 * Pollers: how fast 1, 2, 4, 8 and 16 of them drain the same backlog of 100 partners from one PostgreSQL on this machine, and
 * how fast 1 and 2 drain that of five; and what they pay for each other: deliveries in a claim, CPU for 10,000 deliveries, and
 * how often a session of theirs that works is seen waiting for a lock. They are there and idle before the backlog is, which one
 * commit brings. Beside a backlog nothing may stand still: the longest time without a POST is judged.
 */
import { insertBacklog } from '../backlog.ts';
import { createDatabase, insertWebhooks, startPoller } from '../carteiro.ts';
import { atLeast, atMost, type Bar, type Bench, type Figure, type Measured } from '../figure.ts';
import { cpuOf, cpuOfServer } from '../harness/cpu.ts';
import { connect } from '../harness/server.ts';
import { median } from '../harness/statistics.ts';
import type { Sql } from '../../../src/db/pool.ts';
import { pathsOf } from '../workload.ts';

const WEBHOOKS = 100;
/** How many pollers, for the 100 webhooks of how many partners. */
const SHAPES = [
  ...[1, 2, 4, 8, 16].map((count) => ({ count, partners: WEBHOOKS })),
  ...[1, 2].map((count) => ({ count, partners: 5 })),
];
const SEEDED = 'pollers_seeded';
/** Milliseconds. */
const LONGEST_GAP = 100;
const NOW = 'pollers_now';
const LOOK_EVERY_MS = 50;

interface Drain {
  readonly perSecond: number;
  readonly perClaim: number;
  /** Seconds for 10,000 deliveries. */
  readonly nodeCpu: number;
  readonly serverCpu: number;
  /** Of 100 looks at a session that works: how often it waited for a row or page that another one held. */
  readonly waiting: number;
  /** The longest time without a POST between the first and the last, in milliseconds. */
  readonly gapMs: number;
}

/** Looks at what the pollers' sessions wait for, until it is told to stop; returns the share in percent. */
function watchWaits(sql: Sql): () => Promise<number> {
  let [working, waiting] = [0, 0];
  const over = new AbortController();
  const looking = (async () => {
    while (!over.signal.aborted) {
      const [seen] = await sql<[{ working: number; waiting: number }]>`
        select count(*)::int as working,
               count(*) filter (where wait_event_type in ('Lock', 'LWLock', 'BufferPin'))::int as waiting
        from pg_stat_activity
        where datname = current_database() and application_name = 'carteiro poller' and state = 'active'`;
      working += seen.working;
      waiting += seen.waiting;
      await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
    }
  })();
  return async () => {
    over.abort();
    await looking;
    return (waiting / Math.max(1, working)) * 100;
  };
}

async function drainWith(bench: Bench, pollers: number, partners: number, due: number): Promise<Drain> {
  const { server, receiver } = bench;
  await server.drop(NOW);
  const url = await server.create(NOW, `${SEEDED}_${partners}`);
  const started = await Promise.all(Array.from({ length: pollers }, () => startPoller(url)));
  const sql = connect(url, 2);
  try {
    await receiver.reset();
    const webhooks = await sql<{ id: string; partnerId: string; path: string }[]>`
      select id, partner_id as "partnerId", url as path from webhooks`;
    await sql`checkpoint`;
    const nodeCpu = () => started.reduce((sum, { pid }) => sum + cpuOf(pid), 0);
    const stopWatching = watchWaits(sql);
    let before = { node: 0, server: 0 };
    await sql.begin(async (tx) => {
      for (const webhook of webhooks) await insertBacklog(tx as never, webhook, due / WEBHOOKS);
      before = { node: nodeCpu(), server: cpuOfServer(server.postmaster) };
    });
    await receiver.reached(due);
    const { firstMs, lastMs, gapMs } = await receiver.counters();
    const waiting = await stopWatching();
    // What is still to be recorded is part of the work.
    while ((await sql`select from deliveries where status = 'pendente' limit 1`).length > 0);
    const [claims] = await sql<[{ count: number }]>`select count(distinct claim)::int as count from attempts`;
    return {
      perSecond: (due / (lastMs - firstMs)) * 1_000,
      perClaim: due / claims.count,
      nodeCpu: ((nodeCpu() - before.node) / due) * 10_000,
      serverCpu: ((cpuOfServer(server.postmaster) - before.server) / due) * 10_000,
      waiting,
      gapMs,
    };
  } finally {
    await sql.end({ timeout: 5 });
    await Promise.all(started.map((poller) => poller.end('SIGTERM')));
  }
}

async function run(bench: Bench): Promise<Measured[]> {
  const { server, receiver, progress, isQuick, rounds } = bench;
  const due = isQuick ? 2_000 : 50_000;
  const only = process.env['BENCH_POLLERS']?.split(',').map(Number);
  const shapes = SHAPES.filter(({ count }) => (!isQuick || count <= 2) && (only?.includes(count) ?? true));
  const seeded = new Set(shapes.map(({ partners }) => partners));
  for (const partners of seeded) {
    await createDatabase(server, `${SEEDED}_${partners}`);
    await server.on(`${SEEDED}_${partners}`, async (sql) => {
      const paths = pathsOf(WEBHOOKS);
      await insertWebhooks(sql, receiver.url, paths, partners);
      await sql`vacuum (analyze)`;
    });
  }
  const drains = new Map<(typeof SHAPES)[number], Drain[]>(shapes.map((shape) => [shape, []]));
  for (let round = 1; round <= rounds; round += 1) {
    for (const shape of shapes) {
      const name = `pollers ${round}/${rounds}, ${shape.count} for ${shape.partners} partners`;
      const drain = await progress.phase(name, 300, () => drainWith(bench, shape.count, shape.partners, due));
      drains.get(shape)?.push(drain);
      const cpu = `Node ${drain.nodeCpu.toFixed(2)}, PostgreSQL ${drain.serverCpu.toFixed(2)} s`;
      progress.note(
        `${name}: ${drain.perSecond.toFixed(0)}/s, ${drain.perClaim.toFixed(0)} a claim, ${cpu} for 10,000, ` +
          `waiting ${drain.waiting.toFixed(1)} %, longest gap ${drain.gapMs.toFixed(0)} ms`,
      );
    }
  }
  for (const database of [NOW, ...[...seeded].map((partners) => `${SEEDED}_${partners}`)]) await server.drop(database);
  const rateOf = (shape: (typeof SHAPES)[number]) =>
    median((drains.get(shape) ?? []).map(({ perSecond }) => perSecond));
  const measured = shapes.flatMap((shape) => {
    const { count, partners } = shape;
    const of = (...keys: (keyof Drain)[]) =>
      median((drains.get(shape) ?? []).map((drain) => keys.reduce((sum, key) => sum + drain[key], 0)));
    const told = (id: string, what: string, value: number, unit: string, bar: Bar | null = null): Measured => ({
      id: `pollers_${count}_of_${partners}_${id}`,
      label: `${count} pollers, ${partners} partners: ${what}`,
      value,
      unit,
      bar,
    });
    const alone = shapes.find((other) => other.count === 1 && other.partners === partners) ?? shape;
    const gain = told('gain', 'drain against one', rateOf(shape) / rateOf(alone), '×', atLeast(1));
    const all = [
      told('per_second', 'drain', of('perSecond'), '/s'),
      told('per_claim', 'deliveries a claim', of('perClaim'), ''),
      told('cpu', 'CPU for 10,000', of('nodeCpu', 'serverCpu'), 's'),
      told('waiting', 'sessions at work that wait for a lock', of('waiting'), '%'),
      told('gap', 'longest time without a POST', of('gapMs'), 'ms', atMost(LONGEST_GAP)),
    ];
    return count === 2 ? all.concat(gain) : all;
  });
  return measured;
}

export const pollers: Figure = {
  id: 'pollers',
  about:
    'a drain by 1, 2, 4, 8 and 16 pollers on one PostgreSQL, what they pay for each other, and the longest standstill',
  run,
};
