/** pg-boss with its largest useful batch, on a partition of its own. */
import type { Contender } from '../contender.ts';
import { startPeer } from '../contender.ts';
import { bodyOf } from '../workload.ts';
import { createAttempts } from './attempts.ts';

/**
 * Tried on 2 busy cores, deliveries/s and CPU seconds per 10,000 (Node + PostgreSQL). Attempts gathered: batches of 500 in
 * 3 workers 14,634/s at most, 0.70 s; 1,000 in 2 without the handler's transaction 12,738/s, 0.69 s; 2,000 in 2 8,924/s,
 * 0.70 s; 1,000 in 3 8,166/s, 0.76 s; all are one in CPU, the spread is the machine's. One row a job, on a day when the
 * cores were idle: with 8 connections for the rows 6,074/s, 16: 8,766, 24: 9,159 and 9,195, 32: 8,869, 48: 6,420; 1.7 s.
 */
export const PGBOSS_SETTINGS = { batchSize: 500, workers: 3, connections: 128, poolSize: 6 };
export const QUEUE = 'deliver';

const base: Omit<Contender, 'start'> = {
  id: 'pgboss',
  label: 'pg-boss',
  async seed(server, database, _receiverUrl, count, webhooks) {
    const url = await server.create(database);
    const { PgBoss } = await import('pg-boss');
    const boss = new PgBoss({ connectionString: url, supervise: false, schedule: false });
    boss.on('error', (error) => process.stderr.write(`pg-boss: ${error.message}\n`));
    await boss.start();
    await boss.createQueue(QUEUE, { partition: true });
    await server.on(database, async (sql) => {
      await createAttempts(sql);
      const ids = await sql<{ id: string }[]>`select uuidv7() as id from generate_series(1, ${count}::int)`;
      for (let done = 0; done < count; done += 1_000) {
        const jobs = ids.slice(done, done + 1_000).map(({ id }, index) => ({
          id,
          data: { webhook: (done + index) % webhooks, body: bodyOf(id) },
        }));
        await boss.insert(QUEUE, jobs);
      }
      await boss.stop({ graceful: false });
      await sql`vacuum (analyze)`;
    });
  },
  async done(sql) {
    const [row] = await sql<[{ count: number }]>`
      select count(*)::int as count
      from pgboss.job j join attempts a on a.delivery_id = j.id and a.outcome = 'entregue'
      where j.state = 'completed'`;
    return row.count;
  },
};

/** The attempt rows of a batch in one insert, when its last POST is over, in the transaction that completes it. */
export const pgboss: Contender = {
  ...base,
  start: (databaseUrl, receiverUrl) =>
    startPeer('pgboss', databaseUrl, receiverUrl, { ...PGBOSS_SETTINGS, isTransactional: true }),
};

/** Each attempt's row written when its POST is over, as the other engines' are, and not when the whole batch is. */
export const pgbossSingle: Contender = {
  ...base,
  id: 'pgboss_single',
  label: 'pg-boss, one row a job',
  start: (databaseUrl, receiverUrl) =>
    startPeer('pgboss', databaseUrl, receiverUrl, { ...PGBOSS_SETTINGS, attemptConnections: 24 }),
};
