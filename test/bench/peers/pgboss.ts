/** pg-boss with its largest useful batch, on a partition of its own. */
import type { Contender } from '../contender.ts';
import { startPeer } from '../contender.ts';
import { bodyOf } from '../workload.ts';
import { createAttempts } from './attempts.ts';

/**
 * Tried on 2 busy cores, deliveries/s and CPU seconds per 10,000 (Node + PostgreSQL): batches of 500 in 3 workers
 * 14,634/s at most, 0.70 s; 1,000 in 2 without the handler's transaction 12,738/s, 0.69 s; 2,000 in 2 8,924/s, 0.70 s;
 * 1,000 in 3 8,166/s, 0.76 s. All are one in CPU; the spread is the machine's.
 */
const PGBOSS_SETTINGS = { batchSize: 500, workers: 3, connections: 128, poolSize: 6, transactional: 1 };
export const QUEUE = 'deliver';

export const pgboss: Contender = {
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
  start: (databaseUrl, receiverUrl) => startPeer('pgboss', databaseUrl, receiverUrl, PGBOSS_SETTINGS),
  async done(sql) {
    const [row] = await sql<[{ count: number }]>`
      select count(*)::int as count
      from pgboss.job j join attempts a on a.delivery_id = j.id and a.outcome = 'entregue'
      where j.state = 'completed'`;
    return row.count;
  },
};
