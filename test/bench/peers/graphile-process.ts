/** graphile-worker's process: one task that signs, POSTs and waits for its attempt row. */
import { Logger, run as runWorker, type Runner } from 'graphile-worker';
import type { PeerArguments } from '../contender.ts';
import { offerCalls } from '../harness/child.ts';
import { connect } from '../harness/server.ts';
import { pathOf, peerWebhookId, secretOf } from '../workload.ts';
import { AttemptLog, insertAttempts } from './attempts.ts';
import { createPoster } from './post.ts';

/** Says errors alone. */
export const quiet = new Logger(() => (level, message) => {
  if ((level as string) === 'error') process.stderr.write(`graphile-worker: ${message}\n`);
});

interface Payload {
  readonly webhook: number;
  readonly delivery: string;
  readonly body: string;
}

/** Serves until the parent ends it. */
export function run({ databaseUrl, receiverUrl, settings }: PeerArguments): void {
  const {
    concurrentJobs = 1,
    localQueue = -1,
    completeDelayMs = -1,
    poolSize = 10,
    refetchMs = 0,
    gather = 0,
    attemptConnections = 16,
  } = settings;
  const poster = createPoster(receiverUrl, concurrentJobs);
  const sql = connect(databaseUrl, gather === 1 ? 2 : attemptConnections);
  const log = new AttemptLog(sql);
  const secrets = new Map<number, string>();
  let runner: Runner | undefined;

  async function deliver(payload: unknown): Promise<void> {
    const { webhook, delivery, body } = payload as Payload;
    const path = pathOf(webhook);
    let secret = secrets.get(webhook);
    if (secret === undefined) secrets.set(webhook, (secret = secretOf(path)));
    const [startedAtMs, startedMs] = [Date.now(), performance.now()];
    const statusCode = await poster.post(path, secret, delivery, body);
    const durationMs = performance.now() - startedMs;
    const url = receiverUrl + path;
    const row = { delivery, webhook: peerWebhookId(webhook), statusCode, startedAtMs, durationMs, url };
    await (gather === 1 ? log.add(row) : insertAttempts(sql, [row]));
    if (statusCode > 299) throw new Error(`status ${statusCode}`);
  }

  offerCalls({
    async go() {
      runner = await runWorker({
        taskList: { deliver },
        logger: quiet,
        noHandleSignals: true,
        preset: {
          worker: {
            connectionString: databaseUrl,
            concurrentJobs,
            maxPoolSize: poolSize,
            pollInterval: 1_000,
            completeJobBatchDelay: completeDelayMs,
            failJobBatchDelay: completeDelayMs,
            ...(localQueue > 1 && {
              localQueue: {
                size: localQueue,
                ...(refetchMs > 0 && { refetchDelay: { durationMs: refetchMs, threshold: 0, maxAbortThreshold: 5 } }),
              },
            }),
          },
        },
      });
    },
    async stop() {
      await runner?.stop();
      await poster.close();
      await sql.end();
    },
  });
}
