/**
 * Pollers: how fast 1, 2, 4, 8 and 16 of them drain the same backlog from one PostgreSQL on this machine, and what they pay for
 * each other: deliveries in a claim, CPU for 10,000 deliveries, and how often a session of theirs that works is seen waiting
 * for a lock. They are there and idle before the backlog is, which one commit brings.
 */
import { insertBacklog } from '../backlog.ts';
import { createDatabase, insertWebhooks, startPoller } from '../carteiro.ts';
import type { Bench, Figure, Measured, Result } from '../figure.ts';
import { cpuOf, cpuOfServer } from '../harness/cpu.ts';
import { connect } from '../harness/server.ts';
import { median } from '../harness/statistics.ts';
import type { Sql } from '../../../src/db/pool.ts';

const COUNTS = [1, 2, 4, 8, 16];
const WEBHOOKS = 100;
const SEEDED = 'pollers_seeded';
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

async function drainWith(bench: Bench, pollers: number, due: number): Promise<Drain> {
  const { server, receiver } = bench;
  await server.drop(NOW);
  const url = await server.create(NOW, SEEDED);
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
    const { firstMs, lastMs } = await receiver.counters();
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
    };
  } finally {
    await sql.end({ timeout: 5 });
    await Promise.all(started.map((poller) => poller.end('SIGTERM')));
  }
}

async function run(bench: Bench): Promise<Result> {
  const { server, receiver, progress, isQuick, rounds } = bench;
  const due = isQuick ? 2_000 : 50_000;
  const counts = isQuick ? [1, 2] : COUNTS;
  await createDatabase(server, SEEDED);
  await server.on(SEEDED, async (sql) => {
    const paths = Array.from({ length: WEBHOOKS }, (_, index) => `/h/${index}`);
    await insertWebhooks(sql, receiver.url, paths);
    await sql`vacuum (analyze)`;
  });
  const drains = new Map<number, Drain[]>(counts.map((count) => [count, []]));
  for (let round = 1; round <= rounds; round += 1) {
    for (const count of counts) {
      const name = `pollers ${round}/${rounds}, ${count} of them`;
      const drain = await progress.phase(name, 300, () => drainWith(bench, count, due));
      drains.get(count)?.push(drain);
      const cpu = `Node ${drain.nodeCpu.toFixed(2)}, PostgreSQL ${drain.serverCpu.toFixed(2)} s`;
      progress.note(
        `${name}: ${drain.perSecond.toFixed(0)}/s, ${drain.perClaim.toFixed(0)} a claim, ${cpu} for 10,000, ` +
          `waiting ${drain.waiting.toFixed(1)} %`,
      );
    }
  }
  for (const database of [NOW, SEEDED]) await server.drop(database);
  const measured = counts.flatMap((count) => {
    const of = (pick: (drain: Drain) => number) => median((drains.get(count) ?? []).map(pick));
    const told = (id: string, what: string, value: number, unit: string): Measured => ({
      id: `pollers_${count}_${id}`,
      label: `${count} pollers: ${what}`,
      value,
      unit,
      bar: null,
    });
    return [
      told(
        'per_second',
        'drain',
        of((drain) => drain.perSecond),
        '/s',
      ),
      told(
        'per_claim',
        'deliveries a claim',
        of((drain) => drain.perClaim),
        '',
      ),
      told(
        'cpu',
        'CPU for 10,000',
        of((drain) => drain.nodeCpu + drain.serverCpu),
        's',
      ),
      told(
        'waiting',
        'sessions at work that wait for a lock',
        of((drain) => drain.waiting),
        '%',
      ),
    ];
  });
  return { measured };
}

export const pollers: Figure = {
  id: 'pollers',
  about: 'a drain by 1, 2, 4, 8 and 16 pollers on one PostgreSQL, and what they pay for each other',
  run,
};
