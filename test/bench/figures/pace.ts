/**
 * Pace: how many are in flight to receivers whose answers take time, as log-normal ones do: 50 ms (median), sigma 0.8.
 * One webhook with 20,000 due, with windows that go up to the default cap and with a cap of 8, in turns. A receiver that
 * holds 10 and answers 503 to what is more. 100 webhooks of 300 each beside peers, all with 800 connections.
 */
import { setCap } from '../../../src/delivery/queue/orders/lane.ts';
import { insertBacklog } from '../backlog.ts';
import { carteiro, createDatabase, insertWebhooks, startPoller } from '../carteiro.ts';
import type { Contender } from '../contender.ts';
import { startPeer } from '../contender.ts';
import { atLeast, atMost, type Bench, type Figure, type Measured, reported } from '../figure.ts';
import { median } from '../harness/statistics.ts';
import { GRAPHILE_SETTINGS, graphileGathered } from '../peers/graphile.ts';
import { pgboss, PGBOSS_SETTINGS, pgbossSingle } from '../peers/pgboss.ts';
import { drainOnce } from './drain.ts';

const SLOW = { answer: 'ok', delayMs: 50, sigma: 0.8 } as const;
const FIXED_CAP = 8;
const HOLDS = 10;
const CONNECTIONS = 800;
const WEBHOOKS = 100;
const NARROW = 'pace_narrow';
const LONGEST_MS = 45_000;

const fixed: Contender = {
  ...carteiro,
  id: 'carteiro_8',
  label: `Carteiro, a cap of ${FIXED_CAP}`,
  async seed(server, database, receiverUrl, count, webhooks) {
    await carteiro.seed(server, database, receiverUrl, count, webhooks);
    await server.on(database, async (sql) => {
      const ids = await sql<{ id: string }[]>`select id from webhooks`;
      for (const { id } of ids) await setCap(sql, id, FIXED_CAP);
    });
  },
};

/** Carteiro and the peers, each with what it does best with so many connections. */
const WIDE: readonly Contender[] = [
  {
    ...carteiro,
    async start(databaseUrl) {
      const poller = await startPoller(databaseUrl, { POLLER_CAPACITY: String(CONNECTIONS) });
      return { pid: poller.pid, go: async () => undefined, stop: async () => void (await poller.end('SIGTERM')) };
    },
  },
  {
    ...graphileGathered,
    start: (databaseUrl, receiverUrl) =>
      startPeer('graphile', databaseUrl, receiverUrl, {
        ...GRAPHILE_SETTINGS,
        concurrentJobs: CONNECTIONS,
        localQueue: 2_000,
        gathers: true,
      }),
  },
  {
    ...pgboss,
    start: (databaseUrl, receiverUrl) =>
      startPeer('pgboss', databaseUrl, receiverUrl, {
        ...PGBOSS_SETTINGS,
        connections: CONNECTIONS,
        isTransactional: true,
      }),
  },
  {
    ...pgbossSingle,
    start: (databaseUrl, receiverUrl) =>
      startPeer('pgboss', databaseUrl, receiverUrl, {
        ...PGBOSS_SETTINGS,
        batchSize: 20,
        workers: CONNECTIONS / 20,
        poolSize: 10,
        connections: CONNECTIONS,
        attemptConnections: 24,
      }),
  },
];

/** Deliveries per second of each contender in each round. */
async function alternating(bench: Bench, contenders: readonly Contender[], count: number, webhooks: number) {
  const { server, receiver, progress, rounds } = bench;
  for (const contender of contenders) {
    await progress.phase(`pace, seeding ${contender.label}`, 180, () =>
      contender.seed(server, `pace_${contender.id}`, receiver.url, count, webhooks),
    );
  }
  const rates = new Map<string, number[]>(contenders.map(({ id }) => [id, []]));
  await receiver.behave([{ prefix: '/h', ...SLOW }]);
  for (let round = 1; round <= rounds; round += 1) {
    for (const contender of contenders) {
      const name = `pace ${round}/${rounds}, ${webhooks} webhooks, ${contender.label}`;
      const { perSecond, nodeCpu, serverCpu } = await drainOnce(bench, contender, count, name, 'pace');
      rates.get(contender.id)?.push(perSecond);
      const cpu = `Node ${nodeCpu.toFixed(2)}, PostgreSQL ${serverCpu.toFixed(2)}`;
      progress.note(`${name}: ${perSecond.toFixed(0)}/s, CPU s per 10,000: ${cpu}`);
    }
  }
  await receiver.behave([]);
  for (const { id } of contenders) await server.drop(`pace_${id}`);
  await server.drop('pace_now');
  return rates;
}

const ratio = (rates: ReadonlyMap<string, number[]>, id: string) =>
  median((rates.get('carteiro') ?? []).map((rate, round) => rate / (rates.get(id)?.[round] ?? Number.NaN)));

/** Share of the attempts that a receiver which holds few refuses, in percent. */
async function refusedByNarrow({ server, receiver, progress, isQuick }: Bench): Promise<number> {
  const due = isQuick ? 500 : 20_000;
  const url = await createDatabase(server, NARROW);
  await server.on(NARROW, async (sql) => {
    const [webhook] = await insertWebhooks(sql, receiver.url, ['/n/0']);
    if (webhook) await insertBacklog(sql, webhook, due);
  });
  await receiver.behave([{ prefix: '/n', ...SLOW, holds: HOLDS }]);
  await receiver.reset();
  const poller = await startPoller(url);
  try {
    return await progress.phase('pace, a receiver that holds 10', LONGEST_MS / 1_000 + 30, async () => {
      const done = receiver.reached(due);
      done.catch(() => undefined);
      let limit: NodeJS.Timeout | undefined;
      await Promise.race([done, new Promise((resolve) => (limit = setTimeout(resolve, LONGEST_MS)))]);
      clearTimeout(limit);
      const { posts, refused } = await receiver.counters();
      progress.note(`pace, a receiver that holds ${HOLDS}: ${refused} of ${posts} refused`);
      return (refused / posts) * 100;
    });
  } finally {
    await poller.end('SIGTERM');
    await receiver.behave([]);
    await server.drop(NARROW);
  }
}

async function run(bench: Bench): Promise<Measured[]> {
  const { isQuick } = bench;
  const only = process.env['BENCH_PACE']?.split(',') ?? ['one', 'narrow', 'many'];
  const measured: Measured[] = [];
  if (only.includes('one')) {
    const one = await alternating(bench, [carteiro, fixed], isQuick ? 500 : 20_000, 1);
    const perSecond = median(one.get('carteiro') ?? []);
    measured.push(
      reported('pace_one_per_second', 'one webhook, answers of 50 ms', perSecond, '/s'),
      reported('pace_one_vs_8', '… against a cap of 8', ratio(one, 'carteiro_8'), '×', atLeast(5)),
    );
  }
  if (only.includes('narrow')) {
    const value = await refusedByNarrow(bench);
    measured.push(reported('pace_refused', 'refused by a receiver of 10', value, '%', atMost(5)));
  }
  if (only.includes('many')) {
    const many = await alternating(bench, WIDE, isQuick ? 1_000 : WEBHOOKS * 300, WEBHOOKS);
    for (const { id, label } of WIDE) {
      const value = median(many.get(id) ?? []);
      const name = `${WEBHOOKS} webhooks, answers of 50 ms, ${label}`;
      measured.push(reported(`pace_many_${id}_per_second`, name, value, '/s'));
    }
    const value = Math.min(...WIDE.slice(1).map(({ id }) => ratio(many, id)));
    measured.push(reported('pace_many_vs_best', '… against the best peer', value, '×', atLeast(1.2)));
  }
  return measured;
}

export const pace: Figure = {
  id: 'pace',
  about: 'receivers that take 50 ms: one webhook against a cap of 8, one that holds 10, 100 beside peers',
  run,
};
