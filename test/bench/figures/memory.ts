/**
 * Memory of a poller process: with 512 deliveries in flight that nobody answers, and over half a minute of work on
 * 1,000,000 due rows at 512 in flight. Resident memory is read from /proc every 250 ms.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { setCap } from '../../../src/delivery/queue/orders/lane.ts';
import { appendEvents, createDatabase, insertWebhooks, startPoller } from '../carteiro.ts';
import { atMost, type Bench, type Figure, type Measured, reported } from '../figure.ts';
import { memoryOf } from '../harness/cpu.ts';
import { median } from '../harness/statistics.ts';
import { BACKLOG, dropBacklog, ensureBacklog } from './claim.ts';
import { pathsOf } from '../workload.ts';

const HANGING = 'memory';
const IN_FLIGHT = 512;
const WEBHOOKS = 128;

async function sampleMemory(pid: number, ms: number): Promise<number[]> {
  const samples: number[] = [];
  for (const until = performance.now() + ms; performance.now() < until; await sleep(250)) samples.push(memoryOf(pid));
  return samples;
}

async function inFlight(bench: Bench): Promise<number> {
  const { server, receiver, progress, isQuick } = bench;
  const url = await createDatabase(server, HANGING);
  await server.on(HANGING, async (sql) => {
    const paths = pathsOf(WEBHOOKS, 'hang');
    const webhooks = await insertWebhooks(sql, receiver.url, paths);
    const partners = webhooks.map((webhook) => webhook.partnerId);
    await appendEvents(sql, partners, WEBHOOKS * 20);
  });
  await receiver.behave([{ prefix: '/hang', answer: 'hang' }]);
  await receiver.reset();
  const poller = await startPoller(url, { POLLER_CAPACITY: String(IN_FLIGHT) });
  try {
    return await progress.phase(`memory, ${IN_FLIGHT} in flight`, 90, async () => {
      await receiver.reached(IN_FLIGHT);
      const samples = await sampleMemory(poller.pid, isQuick ? 1_000 : 10_000);
      const { posts } = await receiver.counters();
      if (posts > IN_FLIGHT) throw new Error(`${posts} in flight, and ${IN_FLIGHT} are the most`);
      return Math.max(...samples);
    });
  } finally {
    await poller.end('SIGKILL');
    await receiver.behave([]);
    await server.drop(HANGING);
  }
}

async function millionDue(bench: Bench): Promise<{ peak: number; growth: number }> {
  const { server, receiver, progress, isQuick } = bench;
  await ensureBacklog(bench);
  await server.on(BACKLOG, async (sql) => {
    // Whatever the claim figure holds is given up, and the one webhook may take all slots.
    const [hanging] = await sql<{ id: string }[]>`select id from webhooks where url like '%/hang/0'`;
    const id = hanging?.id ?? '';
    await setCap(sql, id, 1_000);
  });
  await receiver.behave([{ prefix: '/hang', answer: 'ok', delayMs: isQuick ? 20 : 100 }]);
  await receiver.reset();
  const poller = await startPoller(server.urlOf(BACKLOG), { POLLER_CAPACITY: String(IN_FLIGHT) });
  try {
    return await progress.phase('memory, 1,000,000 due', 120, async () => {
      await receiver.reached(1);
      await sleep(isQuick ? 200 : 3_000);
      const samples = await sampleMemory(poller.pid, isQuick ? 1_500 : 30_000);
      const third = Math.floor(samples.length / 3);
      const growth = median(samples.slice(-third)) / median(samples.slice(0, third));
      const { posts } = await receiver.counters();
      progress.note(
        `memory with 1,000,000 due: ${posts} delivered meanwhile, ${samples.at(0)?.toFixed(0)} to ${samples.at(-1)?.toFixed(0)} MiB`,
      );
      return { peak: Math.max(...samples), growth };
    });
  } finally {
    await poller.end('SIGTERM');
    await receiver.behave([]);
  }
}

async function run(bench: Bench): Promise<Measured[]> {
  const flying = await inFlight(bench);
  const { peak, growth } = await millionDue(bench);
  await dropBacklog(bench.server);
  return [
    reported('memory_in_flight', 'RSS of a poller, 512 in flight', flying, 'MiB', atMost(160)),
    reported('memory_due', 'RSS of a poller, 1,000,000 due', peak, 'MiB', atMost(160)),
    reported('memory_growth', 'the same, last third of 30 s against first', growth, '×', atMost(1.1)),
  ];
}

export const memory: Figure = {
  id: 'memory',
  about: 'resident memory of a poller at 512 in flight, and with 1,000,000 rows due',
  run,
};
