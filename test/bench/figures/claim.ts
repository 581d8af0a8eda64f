/**
 * Claim time with a backlog: one webhook hangs on 1,000,000 due rows and 100,000 other webhooks have a lane; each turn
 * 64 of them, drawn at random, get one delivery, which is armed, claimed and recorded. In turns with a second database
 * that differs by its backlog alone: there it is empty.
 */
import { createDatabase, insertWebhooks } from '../carteiro.ts';
import { insertBacklog, insertFanOut } from '../backlog.ts';
import { openEngine } from '../engine.ts';
import { atMost, type Bench, type Figure, type Measured, reported } from '../figure.ts';
import { median, percentile } from '../harness/statistics.ts';
import { createRandom } from '../../support/random.ts';
import { connect, type Server } from '../harness/server.ts';

export const BACKLOG = 'backlog';
const EMPTY = 'backlog_empty';
const TAKEN = 64;

/** Creates the database `backlog`, if a figure before this one has not: one hanging webhook, `/hang/0`, and many others. */
export async function ensureBacklog(bench: Bench): Promise<void> {
  const { server, receiver, progress, isQuick } = bench;
  const [others, due] = isQuick ? [1_000, 5_000] : [100_000, 1_000_000];
  const known = await server.on('postgres', (sql) => sql`select 1 from pg_database where datname = ${BACKLOG}`);
  if (known.length > 0) return;
  await createDatabase(server, EMPTY);
  await progress.phase(`${others} webhooks`, 240, () =>
    server.on(EMPTY, async (sql) => {
      for (let done = 0; done < others; done += 10_000) {
        const count = Math.min(10_000, others - done);
        await insertWebhooks(
          sql,
          receiver.url,
          Array.from({ length: count }, (_, index) => `/b/${done + index}`),
        );
      }
      await sql`vacuum (analyze)`;
    }),
  );
  await server.create(BACKLOG, EMPTY);
  await progress.phase(`${due} due rows`, 300, () =>
    server.on(BACKLOG, async (sql) => {
      const [hanging] = await insertWebhooks(sql, receiver.url, ['/hang/0']);
      if (hanging) await insertBacklog(sql, hanging, due);
      await sql`vacuum (analyze)`;
    }),
  );
  await server.calm();
}

export async function dropBacklog(server: Server): Promise<void> {
  await server.drop(BACKLOG);
  await server.drop(EMPTY);
}

async function openSide(url: string, random: () => number) {
  const engine = openEngine(url);
  const sql = connect(url);
  const webhooks = await sql<{ id: string }[]>`
    select id from webhooks where url not like '%/hang/0' order by id`;
  const pick = () => webhooks[Math.floor(random() * webhooks.length)];
  return {
    // The hanging webhook's slots are taken by the first claim, and stay taken while their leases last.
    async poll() {
      const drawn = new Set<string>();
      while (drawn.size < TAKEN) drawn.add(pick()?.id ?? '');
      await insertFanOut(sql, [...drawn]);
      const { claim, deliveries, tookMs } = await engine.claim(512);
      engine.record(
        claim,
        deliveries.filter((delivery) => !delivery.url.includes('/hang/')),
      );
      await engine.settled();
      return tookMs;
    },
    async close() {
      await Promise.all([engine.close(), sql.end({ timeout: 5 })]);
    },
  };
}

async function run(bench: Bench): Promise<Measured[]> {
  const { server, progress, isQuick, seed } = bench;
  await ensureBacklog(bench);
  const turns = isQuick ? 20 : 400;
  const random = createRandom(seed).next;
  const [loaded, empty] = [await openSide(server.urlOf(BACKLOG), random), await openSide(server.urlOf(EMPTY), random)];
  const loadedMs: number[] = [];
  const emptyMs: number[] = [];
  await progress.phase('claims', 120, async (report) => {
    for (let warm = 0; warm < 20; warm += 1) {
      await loaded.poll();
      await empty.poll();
    }
    for (let poll = 1; poll <= turns; poll += 1) {
      report(`${poll} of ${turns} turns`);
      loadedMs.push(await loaded.poll());
      emptyMs.push(await empty.poll());
    }
  });
  await Promise.all([loaded.close(), empty.close()]);
  const spread = [loadedMs, emptyMs].map(
    (side) => `${median(side).toFixed(2)} / ${percentile(side, 0.99).toFixed(2)} ms`,
  );
  progress.note(`claim of 64, median / p99: with the backlog ${spread[0]}, without ${spread[1]}`);
  const value = median(loadedMs) / median(emptyMs);
  return [
    reported('claim_ms', 'claim of 64 with 1,000,000 due on a hanging webhook', median(loadedMs), 'ms'),
    reported('claim_empty_ms', 'claim of 64 with an empty backlog', median(emptyMs), 'ms'),
    reported('claim_ratio', 'claim time with the backlog', value, '×', atMost(2)),
  ];
}

export const claimTime: Figure = {
  id: 'claim',
  about: 'claim time with 1,000,000 due rows on a hanging webhook and 100,000 others, against an empty backlog',
  run,
};
