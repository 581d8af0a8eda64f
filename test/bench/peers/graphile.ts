/** graphile-worker with its local queue and batched completion. */
import type { Contender } from '../contender.ts';
import { startPeer } from '../contender.ts';
import { bodyOf } from '../workload.ts';
import { createAttempts } from './attempts.ts';

/**
 * Tried on 2 busy cores, deliveries/s and CPU seconds per 10,000 (Node + PostgreSQL): 32 jobs and 16 connections for the
 * attempts 5,004/s, 2.20 s; 128 and 48: 6,251/s, 2.17 s; on a day when the cores were idle 128 and 48: 7,949/s, 1.76 s;
 * 128 and 24: 8,388/s, 1.69 s; 256 and 24: 8,927/s, 1.64 s. With the attempts gathered: 64 jobs and a local queue of 500
 * 16,900/s, 0.68 s; 128 and 1,000 18,400/s at most, 0.66 s; 512 and 2,000 16,200/s, 0.65 s.
 */
export const GRAPHILE_SETTINGS = {
  concurrentJobs: 128,
  localQueue: 1_000,
  completeDelayMs: 20,
  poolSize: 10,
  attemptConnections: 24,
};

const base: Contender = {
  id: 'graphile',
  label: 'graphile-worker',
  async seed(server, database, _receiverUrl, count, webhooks) {
    const url = await server.create(database);
    const { runMigrations } = await import('graphile-worker');
    const { quiet } = await import('./graphile-process.ts');
    await runMigrations({ connectionString: url, logger: quiet });
    await server.on(database, async (sql) => {
      await createAttempts(sql);
      for (let done = 0; done < count; done += 1_000) {
        await sql`
          select graphile_worker.add_jobs(array_agg(row('deliver', payload, null, null, null, null, null, null)::graphile_worker.job_spec))
          from (select json_build_object('webhook', (${done}::int + n) % ${webhooks}::int, 'delivery', id,
                                         'body', replace(${bodyOf('$')}, '$', id::text)) as payload
                from (select n, uuidv7() as id from generate_series(0, ${Math.min(1_000, count - done) - 1}::int) n) ids) jobs`;
      }
      await sql`vacuum (analyze)`;
    });
  },
  start: (databaseUrl, receiverUrl) =>
    startPeer('graphile', databaseUrl, receiverUrl, { ...GRAPHILE_SETTINGS, concurrentJobs: 256 }),
  async done(sql) {
    const [row] = await sql<[{ count: number }]>`
      select (select count(*) from attempts where outcome = 'entregue')::int
             - (select count(*) from graphile_worker.jobs where locked_at is not null)::int as count`;
    return row.count;
  },
};

/** Its task as its documentation has it: one task, one POST, one insert of its attempt row. */
export const graphile = base;

/** Not what a team starts with: the attempt rows of all tasks in flight gathered into one insert, by code of one's own. */
export const graphileGathered: Contender = {
  ...base,
  id: 'graphile_gathered',
  label: 'graphile-worker, attempts gathered',
  start: (databaseUrl, receiverUrl) =>
    startPeer('graphile', databaseUrl, receiverUrl, { ...GRAPHILE_SETTINGS, gathers: true }),
};
