/** pg-boss's process: its handler POSTs a whole batch at once, and writes each attempt by itself or all in one insert. */
import { type Job, PgBoss } from 'pg-boss';
import type { PeerArguments } from '../contender.ts';
import { offerCalls } from '../harness/child.ts';
import { connect } from '../harness/server.ts';
import { insertAttempts, insertStatement } from './attempts.ts';
import { QUEUE } from './pgboss.ts';
import { createPoster } from './post.ts';

interface Data {
  readonly webhook: number;
  readonly body: string;
}

export interface PgBossSettings {
  readonly batchSize: number;
  readonly workers: number;
  /** To the receiver. */
  readonly connections: number;
  readonly poolSize: number;
  /** Each attempt's row is written by itself, over so many connections. */
  readonly attemptConnections?: number;
  /** The rows of a batch are written in the transaction that completes it. */
  readonly isTransactional?: boolean;
}

/** Serves until the parent ends it. */
export function run({ databaseUrl, receiverUrl, settings }: PeerArguments<PgBossSettings>): void {
  const { batchSize, workers, connections, poolSize, attemptConnections = 0, isTransactional = false } = settings;
  const poster = createPoster(receiverUrl, connections);
  const sql = connect(databaseUrl, attemptConnections > 0 ? attemptConnections : workers);
  const boss = new PgBoss({ connectionString: databaseUrl, max: poolSize, schedule: false });
  boss.on('error', (error) => process.stderr.write(`pg-boss: ${error.message}\n`));
  const deliver = ({ id, data: { webhook, body } }: Job<Data>) => poster.deliver(webhook, id, body);

  const options = {
    batchSize,
    localConcurrency: workers,
    pollingIntervalSeconds: 0.5,
    burstWhenBatchFull: true,
  };

  offerCalls({
    async go() {
      await boss.start();
      if (attemptConnections > 0) {
        await boss.work<Data>(QUEUE, options, async (jobs) => {
          await Promise.all(jobs.map(async (job) => insertAttempts(sql, [await deliver(job)])));
        });
      } else if (isTransactional) {
        await boss.work<Data, void, { transactional: true }>(
          QUEUE,
          { ...options, transactional: true },
          async (jobs, tx) => {
            const { text, values } = insertStatement(await Promise.all(jobs.map((job) => deliver(job))));
            await tx.executeSql(text, values);
          },
        );
      } else {
        await boss.work<Data>(QUEUE, options, async (jobs) => {
          await insertAttempts(sql, await Promise.all(jobs.map((job) => deliver(job))));
        });
      }
    },
    async stop() {
      await boss.stop({ graceful: true, timeout: 60_000 });
      await poster.close();
      await sql.end();
    },
  });
}
