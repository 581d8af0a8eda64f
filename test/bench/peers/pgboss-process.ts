/** pg-boss's process: its handler POSTs a whole batch at once, and writes each attempt by itself or all in one insert. */
import { type Job, PgBoss } from 'pg-boss';
import type { PeerArguments } from '../contender.ts';
import { offerCalls } from '../harness/child.ts';
import { connect } from '../harness/server.ts';
import { pathOf, peerWebhookId, secretOf } from '../workload.ts';
import { type AttemptRow, insertAttempts, insertStatement } from './attempts.ts';
import { QUEUE } from './pgboss.ts';
import { createPoster } from './post.ts';

interface Data {
  readonly webhook: number;
  readonly body: string;
}

/** Serves until the parent ends it. */
export function run({ databaseUrl, receiverUrl, settings }: PeerArguments): void {
  const {
    batchSize = 1,
    workers = 1,
    connections = 16,
    poolSize = 10,
    transactional = 0,
    attemptConnections = 0,
    notify = 0,
  } = settings;
  const poster = createPoster(receiverUrl, connections);
  const sql = connect(databaseUrl, attemptConnections > 0 ? attemptConnections : workers);
  const secrets = new Map<number, string>();
  const boss = new PgBoss({
    connectionString: databaseUrl,
    max: poolSize,
    schedule: false,
    useListenNotify: notify === 1,
  });
  boss.on('error', (error) => process.stderr.write(`pg-boss: ${error.message}\n`));

  async function deliver({ id, data: { webhook, body } }: Job<Data>): Promise<AttemptRow> {
    const path = pathOf(webhook);
    let secret = secrets.get(webhook);
    if (secret === undefined) secrets.set(webhook, (secret = secretOf(path)));
    const [startedAtMs, startedMs] = [Date.now(), performance.now()];
    const statusCode = await poster.post(path, secret, id, body);
    const durationMs = performance.now() - startedMs;
    const url = receiverUrl + path;
    return { delivery: id, webhook: peerWebhookId(webhook), statusCode, startedAtMs, durationMs, url };
  }

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
      } else if (transactional === 1) {
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
