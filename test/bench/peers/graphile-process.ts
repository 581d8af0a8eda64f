/** graphile-worker's process: one task that signs, POSTs and waits for its attempt row. */
import { Logger, run as runWorker, type Runner } from 'graphile-worker';
import type { PeerArguments } from '../contender.ts';
import { offerCalls } from '../harness/child.ts';
import { connect } from '../harness/server.ts';
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

export interface GraphileSettings {
  readonly concurrentJobs: number;
  /** -1: none. */
  readonly localQueue: number;
  /** -1: completions are not held back. */
  readonly completeDelayMs: number;
  readonly poolSize: number;
  readonly attemptConnections: number;
  /** The attempt rows of all tasks in flight go into one insert. */
  readonly gathers?: boolean;
}

/** Serves until the parent ends it. */
export function run({ databaseUrl, receiverUrl, settings }: PeerArguments<GraphileSettings>): void {
  const { concurrentJobs, localQueue, completeDelayMs, poolSize, attemptConnections, gathers = false } = settings;
  const poster = createPoster(receiverUrl, concurrentJobs);
  const sql = connect(databaseUrl, gathers ? 2 : attemptConnections);
  const log = new AttemptLog(sql);
  let runner: Runner | undefined;

  async function deliver(payload: unknown): Promise<void> {
    const { webhook, delivery, body } = payload as Payload;
    const row = await poster.deliver(webhook, delivery, body);
    await (gathers ? log.add(row) : insertAttempts(sql, [row]));
    if (row.statusCode > 299) throw new Error(`status ${row.statusCode}`);
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
            ...(localQueue > 1 && { localQueue: { size: localQueue } }),
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
