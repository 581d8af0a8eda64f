/**
 * Commit → arrival: how long after its commit has returned an event reaches the receiver, at 100 events/s that come at
 * random (Poisson) over 100 webhooks, with nothing else to do. Beside it graphile-worker with LISTEN, which hears its
 * NOTIFY inside the same kind of transaction. In turns, on the same server.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { carteiro, startPoller, appendFor, partnersOf } from '../carteiro.ts';
import { atMost, type Bench, type Figure, type Measured, reported } from '../figure.ts';
import { median } from '../harness/statistics.ts';
import { graphile, GRAPHILE_SETTINGS } from '../peers/graphile.ts';
import { startPeer } from '../contender.ts';
import { bodyOf } from '../workload.ts';
import { appendAtRate, type Write, feel } from './arrivals.ts';
import { randomUUID } from 'node:crypto';

const WEBHOOKS = 100;
const RATE = 100;
const WARM_UP_S = 3;

interface Latency {
  readonly p50: number;
  readonly p99: number;
}

async function measureOnce(bench: Bench, name: string, url: string, write: Write): Promise<Latency> {
  const seconds = bench.isQuick ? 3 : 20;
  const { receiver, progress, seed } = bench;
  return progress.phase(name, seconds + 60, async (report) => {
    await receiver.reset();
    await appendAtRate({ url, rate: RATE, seconds: WARM_UP_S, seed, write });
    await sleep(300);
    return feel(receiver, { url, rate: RATE, seconds, seed: seed + 1, write, report });
  });
}

async function carteiroOnce(bench: Bench, name: string): Promise<Latency> {
  const { server } = bench;
  const url = server.urlOf('latency_carteiro');
  const partners = await server.on('latency_carteiro', partnersOf);
  const poller = await startPoller(url);
  try {
    return await measureOnce(bench, name, url, appendFor(partners));
  } finally {
    await poller.end('SIGTERM');
  }
}

async function graphileOnce(bench: Bench, name: string): Promise<Latency> {
  const url = bench.server.urlOf('latency_graphile');
  // Its quickest settings: no local queue, completions not held back, a few workers that LISTEN wakes.
  const settings = { ...GRAPHILE_SETTINGS, concurrentJobs: 16, localQueue: -1, completeDelayMs: -1, poolSize: 18 };
  const worker = await startPeer('graphile', url, bench.receiver.url, settings);
  try {
    await worker.go();
    return await measureOnce(bench, name, url, async (sql, id, index) => {
      const payload = { webhook: index % WEBHOOKS, delivery: randomUUID(), body: bodyOf(id) };
      await sql`select graphile_worker.add_job('deliver', ${JSON.stringify(payload)}::text::json)`;
    });
  } finally {
    await worker.stop();
  }
}

async function run(bench: Bench): Promise<Measured[]> {
  const { server, receiver, progress, rounds } = bench;
  await carteiro.seed(server, 'latency_carteiro', receiver.url, 0, WEBHOOKS);
  await graphile.seed(server, 'latency_graphile', receiver.url, 0, WEBHOOKS);
  const own: Latency[] = [];
  const peer: Latency[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    own.push(await carteiroOnce(bench, `commit → arrival ${round}/${rounds}, Carteiro`));
    peer.push(await graphileOnce(bench, `commit → arrival ${round}/${rounds}, graphile-worker`));
    const reported = [own, peer].map((side) => `${side.at(-1)?.p50.toFixed(1)} / ${side.at(-1)?.p99.toFixed(1)} ms`);
    progress.note(
      `commit → arrival ${round}/${rounds}, p50 / p99: Carteiro ${reported[0]}, graphile-worker ${reported[1]}`,
    );
  }
  await server.drop('latency_carteiro');
  await server.drop('latency_graphile');
  const of = (side: readonly Latency[], pick: (latency: Latency) => number) => median(side.map(pick));
  const [p50, p99] = [of(own, (round) => round.p50), of(own, (round) => round.p99)];
  const [peer50, peer99] = [of(peer, (round) => round.p50), of(peer, (round) => round.p99)];
  const ratio = median(own.map((round, index) => round.p50 / (peer[index]?.p50 ?? Number.NaN)));
  return [
    reported('latency_p50', 'commit → arrival, p50', p50, 'ms', atMost(5)),
    reported('latency_p99', 'commit → arrival, p99', p99, 'ms', atMost(20)),
    reported('latency_graphile_p50', 'the same, graphile-worker, p50', peer50, 'ms'),
    reported('latency_graphile_p99', 'the same, graphile-worker, p99', peer99, 'ms'),
    reported('latency_vs_graphile', 'p50 against graphile-worker with LISTEN', ratio, '×', atMost(2)),
  ];
}

export const latency: Figure = {
  id: 'latency',
  about: 'commit → arrival at 100 events/s, beside graphile-worker with LISTEN',
  run,
};
