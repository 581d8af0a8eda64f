/**
 * Drain: how fast one process delivers a backlog, against the peers and against the same POSTs without a database.
 * Each round is A B A B: one contender after the other, each on a fresh copy of its own seeded database, after a
 * checkpoint. The time runs from the first POST to the last at the receiver; then every delivery must be done and have
 * its attempt row, or the run fails. A contender still at work after 45 s is judged by its rate until then.
 */
import { carteiro } from '../carteiro.ts';
import type { Contender } from '../contender.ts';
import { atLeast, atMost, type Bench, type Figure, type Measured, reported } from '../figure.ts';
import { cpuOf, cpuOfServer } from '../harness/cpu.ts';
import { median } from '../harness/statistics.ts';
import { bare } from '../peers/bare.ts';
import { graphile, graphileGathered } from '../peers/graphile.ts';
import { loop } from '../peers/loop.ts';
import { pgboss, pgbossSingle } from '../peers/pgboss.ts';

const WEBHOOKS = 100;
const LONGEST_S = 45;
const BARS = new Map([
  ['graphile', 2.5],
  ['graphile_gathered', 2.5],
  ['pgboss', 2.2],
  ['pgboss_single', 2.2],
  ['loop', 6],
  ['bare', 0.4],
]);
const CPU_BAR = 0.9;

export interface Drain {
  readonly perSecond: number;
  /** CPU seconds per 10,000 deliveries. */
  readonly nodeCpu: number;
  readonly serverCpu: number;
}

/** Has `contender` drain a copy of its database, whose name begins with `prefix`, as the other ones of the figure do. */
export async function drainOnce(
  bench: Bench,
  contender: Contender,
  count: number,
  name: string,
  prefix = 'drain',
): Promise<Drain> {
  const { server, receiver, progress } = bench;
  const copy = `${prefix}_now`;
  await server.drop(copy);
  const url = contender.id === 'bare' ? '' : await server.create(copy, `${prefix}_${contender.id}`);
  await server.calm();
  await receiver.reset();
  const running = await contender.start(url, receiver.url);
  const draining = progress.phase(name, LONGEST_S + 60, async (report) => {
    const first = receiver.reached(1);
    // When it cannot begin, nobody waits for that.
    first.catch(() => undefined);
    await running.go();
    await first;
    const [nodeBefore, serverBefore] = [cpuOf(running.pid), cpuOfServer(server.postmaster)];
    const before = await receiver.counters();
    const done = receiver.reached(count);
    const telling = setInterval(() => {
      void receiver.counters().then(
        ({ posts }) => report(`${posts} of ${count}`),
        () => undefined,
      );
    }, 1_000);
    let limit: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => (limit = setTimeout(resolve, LONGEST_S * 1_000)));
    await Promise.race([done, late]);
    clearInterval(telling);
    clearTimeout(limit);
    const after = await receiver.counters();
    const posts = after.posts - before.posts;
    const seconds = (after.lastMs - before.lastMs) / 1_000;
    // What is still to be recorded is part of the work.
    if (after.posts >= count) await new Promise((resolve) => setTimeout(resolve, 300));
    return {
      perSecond: posts / seconds,
      nodeCpu: ((cpuOf(running.pid) - nodeBefore) / posts) * 10_000,
      serverCpu: ((cpuOfServer(server.postmaster) - serverBefore) / posts) * 10_000,
    };
  });
  try {
    await draining;
  } finally {
    await progress.phase(`${name}, stopping`, 90, () => running.stop());
  }
  await checkWork(bench, contender, copy);
  return draining;
}

/** Equal work: every POST signed, every POST done and with its durable attempt row. */
async function checkWork({ server, receiver }: Bench, contender: Contender, database: string): Promise<void> {
  const { posts, checked, badSignatures } = await receiver.counters();
  if (checked === 0 || badSignatures > 0) throw new Error(`${contender.id}: ${badSignatures} of ${checked} unsigned`);
  if (contender.id === 'bare') return;
  const done = await server.on(database, (sql) => contender.done(sql));
  if (done < posts) throw new Error(`${contender.id}: ${posts} POSTs, but ${done} done with an attempt row`);
}

async function measure(bench: Bench, contenders: readonly Contender[], count: number, rounds: number) {
  const { server, receiver, progress } = bench;
  for (const contender of contenders) {
    await progress.phase(`drain, seeding ${contender.label}`, 180, () =>
      contender.seed(server, `drain_${contender.id}`, receiver.url, count, WEBHOOKS),
    );
  }
  const drains = new Map<string, Drain[]>(contenders.map(({ id }) => [id, []]));
  for (let round = 1; round <= rounds; round += 1) {
    for (const contender of contenders) {
      const name = `drain ${round}/${rounds}, ${contender.label}`;
      const drain = await drainOnce(bench, contender, count, name);
      drains.get(contender.id)?.push(drain);
      const [node, postgres] = [drain.nodeCpu.toFixed(2), drain.serverCpu.toFixed(2)];
      progress.note(`${name}: ${drain.perSecond.toFixed(0)}/s, CPU s per 10,000: Node ${node}, PostgreSQL ${postgres}`);
    }
  }
  for (const contender of contenders) await server.drop(`drain_${contender.id}`);
  await server.drop('drain_now');
  return drains;
}

async function run(bench: Bench): Promise<Measured[]> {
  const count = bench.isQuick ? 2_000 : 100_000;
  const only = process.env['BENCH_DRAIN']?.split(',');
  const all = [carteiro, bare(count, WEBHOOKS), graphile, graphileGathered, pgboss, pgbossSingle, loop];
  const contenders = all.filter(({ id }) => !only || only.includes(id));
  const drains = await measure(bench, contenders, count, bench.rounds);
  const of = (id: string, ...keys: (keyof Drain)[]) =>
    median((drains.get(id) ?? []).map((drain) => keys.reduce((sum, key) => sum + drain[key], 0)));
  const ownRates = (drains.get('carteiro') ?? []).map((drain) => drain.perSecond);

  const measured: Measured[] = contenders.map(({ id, label }) =>
    reported(`drain_${id}_per_second`, `drain, ${label}`, of(id, 'perSecond'), '/s'),
  );
  for (const { id, label } of contenders) {
    const bar = BARS.get(id);
    if (bar === undefined) continue;
    const ratios = (drains.get(id) ?? []).map((drain, round) => (ownRates[round] ?? Number.NaN) / drain.perSecond);
    measured.push(reported(`drain_vs_${id}`, `drain against ${label}`, median(ratios), '×', atLeast(bar)));
  }
  for (const { id, label } of contenders) {
    const value = of(id, 'nodeCpu', 'serverCpu');
    const bar = id === 'carteiro' ? atMost(CPU_BAR) : null;
    measured.push(reported(`cpu_${id}`, `CPU of ${label}, Node + PostgreSQL`, value, 's/10,000', bar));
  }
  return measured;
}

export const drain: Figure = {
  id: 'drain',
  about: 'drain of 100,000 due deliveries over 100 webhooks: Carteiro, bare undici, graphile-worker, pg-boss, a loop',
  run,
};
