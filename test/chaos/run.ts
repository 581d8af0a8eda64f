/** One fault run: load, faults, the end, the verdict. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectTo } from '../support/connect.ts';
import { cleanWhenInterrupted } from '../support/interrupted.ts';
import { startPrivateServer } from '../support/private-server.ts';
import { createRandom } from '../support/random.ts';
import { makeTestFolder, sweepDeadRuns } from '../support/test-folder.ts';
import { Fleet } from './fleet.ts';
import { commitLoad } from './load.ts';
import { type Fault, type FaultKind, scheduleFaults } from './plan.ts';
import { startRecordingReceiver } from './receiver.ts';
import { hurryRetries } from './time.ts';
import { judge, type Verdict } from './verdict.ts';
import { insist, makeWorld, renewQueues, type World } from './world.ts';

export interface ChaosOptions {
  readonly seed: number;
  readonly deliveries: number;
  /** How many of each fault. */
  readonly counts: Readonly<Record<FaultKind, number>>;
  /** How long faults and commits go on. */
  readonly spanMs: number;
  /** What is pending when no attempt has ended for this long is stuck. However slow the machine is, it is no other verdict. */
  readonly patienceMs: number;
  /** Spares the waits of 30 s and 45 s: no hanging receivers, leases ended by SQL. */
  readonly haste: boolean;
  /** The pollers hold no locks under their names, as behind a pooler. */
  readonly leaseAlone: boolean;
  readonly say: (line: string) => void;
}

export interface ChaosResult extends Verdict {
  readonly exitCodes: readonly (number | null)[];
  readonly said: ReadonlyMap<string, number>;
}

type Server = Awaited<ReturnType<typeof startPrivateServer>>;

async function strike(fault: Fault, fleet: Fleet, server: Server, stops: { done: number }): Promise<void> {
  if (fault.kind === 'kill') return fleet.kill(fault.draw);
  if (fault.kind === 'pair') return fleet.kill(fault.draw, 2);
  if (fault.kind === 'freeze') return fleet.freeze(fault.draw);
  if (fault.kind === 'cut') return fleet.cut(fault.draw);
  if (fault.kind === 'black-hole') return fleet.blackHole(fault.draw);
  await server.stopImmediately();
  await sleep(fault.draw * 1_000);
  await server.start();
  stops.done += 1;
}

/** Strikes each fault at its time. Stops of the server wait for each other; all else overlaps. */
async function strikeAll(faults: readonly Fault[], fleet: Fleet, server: Server): Promise<{ stops: number }> {
  const startedAtMs = performance.now();
  const stops = { done: 0 };
  const running: Promise<void>[] = [];
  let stopping: Promise<void> = Promise.resolve();
  for (const fault of faults) {
    await sleep(Math.max(0, fault.atMs - (performance.now() - startedAtMs)));
    if (fault.kind === 'stop') stopping = stopping.then(() => strike(fault, fleet, server, stops));
    else running.push(strike(fault, fleet, server, stops));
  }
  await Promise.all([...running, stopping]);
  return { stops: stops.done };
}

interface Watch {
  renewals: number;
  overCap: number;
  isOver: boolean;
}

/** Brings retries forward and looks, now and then, for a webhook with more in flight than its cap. */
async function watchOver(world: World, watch: Watch, say: (line: string) => void): Promise<void> {
  let poll = 0;
  while (!watch.isOver) {
    await insist(() => hurryRetries(world.pool));
    watch.renewals += (await insist(() => renewQueues(world.pool))).filter(({ done }) => done).length;
    const over = await insist(() =>
      world.pool.run(
        (sql) => sql`
          select from flights() f join lanes l using (webhook_id)
          where f.claimed_at > now() - lease()
          group by l.webhook_id, l.max_in_flight having count(*) > l.max_in_flight`,
      ),
    );
    watch.overCap += over.length;
    if ((poll += 1) % 10 === 0) say(await describe(world));
    await sleep(500);
  }
}

async function describe({ pool }: World): Promise<string> {
  const rows = await insist(() =>
    pool.run(
      (sql) => sql<{ state: string; n: number }[]>`
        select case when id in (select delivery_id from flights()) then 'in flight' when status = 'pendente' and failures > 0 then 'to be retried'
                    else status end as state, count(*)::int as n
        from deliveries group by 1 order by 2 desc`,
    ),
  );
  return `  so far ${rows.map(({ state, n }) => `${state} ${n}`).join(', ')}`;
}

async function untilQuiet({ pool }: World, patienceMs: number): Promise<void> {
  let ended = -1;
  let sinceMs = performance.now();
  while (performance.now() - sinceMs < patienceMs) {
    const [now] = await insist(() =>
      pool.run(
        (sql) => sql<[{ pending: number; ended: number }]>`
          select (select count(*)::int from deliveries where status = 'pendente') as pending,
                 (select count(*)::int from attempts) as ended`,
      ),
    );
    if (now.pending === 0) return;
    if (now.ended !== ended) [ended, sinceMs] = [now.ended, performance.now()];
    await sleep(200);
  }
}

/** Runs it and returns what it found; throws only when the run itself broke. */
export async function runChaos(options: ChaosOptions): Promise<ChaosResult> {
  const { seed, spanMs, haste, leaseAlone, say } = options;
  const startedAtMs = performance.now();
  await sweepDeadRuns();
  const rest = new AsyncDisposableStack();
  const forgetInterrupts = cleanWhenInterrupted(() => rest.disposeAsync());
  try {
    const folder = rest.adopt(await makeTestFolder(), (made) => made.remove());
    const server = rest.adopt(await startPrivateServer(), (started) => started.remove());
    const file = join(folder.path, 'posts.tsv');
    const receiver = rest.adopt(await startRecordingReceiver(file, seed, haste), (started) => started.finish());
    const world = await makeWorld(server.url, receiver.port);
    rest.defer(() => world.pool.close(1));
    const fleet = await Fleet.start(world, server.url, { haste, leaseAlone });
    const watch: Watch = { renewals: 0, overCap: 0, isOver: false };
    let isDrained = false;
    rest.defer(async () => {
      watch.isOver = true;
      if (!isDrained) await fleet.abandon();
    });
    say(`three pollers deliver; faults for ${Math.round(spanMs / 1_000)} s`);
    const watching = watchOver(world, watch, say);
    const [ledger, { stops }] = await Promise.all([
      commitLoad(world, createRandom(seed).fork(), options.deliveries, spanMs * 0.9),
      strikeAll(scheduleFaults(seed, spanMs, options.counts), fleet, server),
    ]);
    say('no more faults; waiting for the last delivery');
    await untilQuiet(world, options.patienceMs);
    watch.isOver = true;
    await watching;
    say('all is quiet; draining the pollers');
    const exitCodes = await fleet.drain();
    say('judging');
    isDrained = true;
    await receiver.finish();
    const sql = connectTo(server.url);
    const { figures, faults, orphans } = await judge(ledger, file, sql);
    await sql.end();
    const { said, ...did } = fleet.figures;
    const seconds = Math.round((performance.now() - startedAtMs) / 1_000);
    return {
      figures: { ...figures, ...did, stops, renewals: watch.renewals, seconds },
      faults: { ...faults, 'webhooks over their cap': watch.overCap },
      orphans,
      exitCodes,
      said,
    };
  } finally {
    forgetInterrupts();
    await rest.disposeAsync();
  }
}
