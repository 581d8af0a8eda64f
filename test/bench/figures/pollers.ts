/**
 * Pollers: how fast 1, 2, 4, 8 and 16 of them drain the same backlog of 100 partners from one PostgreSQL on this machine, and
 * how fast 1 and 2 drain that of five; and what they pay for each other: deliveries in a claim, and CPU for 10,000 deliveries.
 * They are there and idle before the backlog is, which one commit brings. Beside a backlog nothing may stand still: the longest time without a POST is judged.
 */
import { insertBacklog } from '../backlog.ts';
import { createDatabase, insertWebhooks, startPoller } from '../carteiro.ts';
import { atLeast, atMost, type Bar, type Bench, type Figure, type Measured, reported } from '../figure.ts';
import { cpuOf, cpuOfServer } from '../harness/cpu.ts';
import { connect } from '../harness/server.ts';
import { median } from '../harness/statistics.ts';
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

interface Drain {
  readonly perSecond: number;
  readonly perClaim: number;
  /** Seconds for 10,000 deliveries. */
  readonly nodeCpu: number;
  readonly serverCpu: number;
  /** The longest time without a POST between the first and the last, in milliseconds. */
  readonly gapMs: number;
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
    let before = { node: 0, server: 0 };
    await sql.begin(async (tx) => {
      for (const webhook of webhooks) await insertBacklog(tx as never, webhook, due / WEBHOOKS);
      before = { node: nodeCpu(), server: cpuOfServer(server.postmaster) };
    });
    await receiver.reached(due);
    const { firstMs, lastMs, gapMs } = await receiver.counters();
    // What is still to be recorded is part of the work.
    while ((await sql`select from deliveries where status = 'pendente' limit 1`).length > 0);
    const [claims] = await sql<[{ count: number }]>`select count(distinct claim)::int as count from attempts`;
    return {
      perSecond: (due / (lastMs - firstMs)) * 1_000,
      perClaim: due / claims.count,
      nodeCpu: ((nodeCpu() - before.node) / due) * 10_000,
      serverCpu: ((cpuOfServer(server.postmaster) - before.server) / due) * 10_000,
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
          `longest gap ${drain.gapMs.toFixed(0)} ms`,
      );
    }
  }
  for (const database of [NOW, ...[...seeded].map((partners) => `${SEEDED}_${partners}`)]) await server.drop(database);
  const all = (shape: (typeof SHAPES)[number], ...keys: (keyof Drain)[]) =>
    median((drains.get(shape) ?? []).map((drain) => keys.reduce((sum, key) => sum + drain[key], 0)));
  const measured = shapes.flatMap((shape) => {
    const { count, partners } = shape;
    const of = (id: string, what: string, value: number, unit: string, bar: Bar | null = null) =>
      reported(
        `pollers_${count}_of_${partners}_${id}`,
        `${count} pollers, ${partners} partners: ${what}`,
        value,
        unit,
        bar,
      );
    const alone = shapes.find((other) => other.count === 1 && other.partners === partners) ?? shape;
    const against = (...keys: (keyof Drain)[]) => all(shape, ...keys) / all(alone, ...keys);
    const own = [
      of('per_second', 'drain', all(shape, 'perSecond'), '/s'),
      of('per_claim', 'deliveries a claim', all(shape, 'perClaim'), ''),
      of('cpu', 'CPU for 10,000', all(shape, 'nodeCpu', 'serverCpu'), 's'),
      of('gap', 'longest time without a POST', all(shape, 'gapMs'), 'ms', atMost(LONGEST_GAP)),
    ];
    if (count === 1) return own;
    return own.concat(
      of('gain', 'drain against one', against('perSecond'), '×', atLeast(count === 2 ? 1 : 0.8)),
      of('price', 'CPU against one', against('nodeCpu', 'serverCpu'), '×', atMost(1.3)),
    );
  });
  return measured;
}

export const pollers: Figure = {
  id: 'pollers',
  about:
    'a drain by 1, 2, 4, 8 and 16 pollers on one PostgreSQL, what they pay for each other, and the longest standstill',
  run,
};
