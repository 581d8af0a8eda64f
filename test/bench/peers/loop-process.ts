/** The hand-written loop's process. Its statements are prepared, and the last three travel together. */
import type { PeerArguments } from '../contender.ts';
import { offerCalls } from '../harness/child.ts';
import { connect } from '../harness/server.ts';
import { pathOf, peerWebhookId, secretOf } from '../workload.ts';
import { insertAttempts } from './attempts.ts';
import { createPoster } from './post.ts';

interface Row {
  readonly id: string;
  readonly webhook: number;
  readonly body: string;
}

/** Serves until the parent ends it. */
export function run({ databaseUrl, receiverUrl, settings }: PeerArguments): void {
  const { connections = 16, pauseMs = 50 } = settings;
  const poster = createPoster(receiverUrl, connections);
  const sql = connect(databaseUrl, connections);
  const stopping = new AbortController();
  let loops: Promise<void>[] = [];

  async function deliverOne(): Promise<boolean> {
    return sql.begin(async (tx) => {
      const [row] = await tx<Row[]>`
        select id, webhook, body from outbox
        where status = 'pending' and next_attempt_at <= now()
        order by next_attempt_at limit 1 for update skip locked`;
      if (!row) return false;
      const path = pathOf(row.webhook);
      const [startedAtMs, startedMs] = [Date.now(), performance.now()];
      const statusCode = await poster.post(path, secretOf(path), row.id, row.body);
      const durationMs = performance.now() - startedMs;
      const attempt = { delivery: row.id, webhook: peerWebhookId(row.webhook), statusCode, startedAtMs, durationMs };
      await Promise.all([
        insertAttempts(tx, [{ ...attempt, url: receiverUrl + path }]),
        tx`update outbox set status = 'delivered', attempts = attempts + 1 where id = ${row.id}`,
      ]);
      return true;
    });
  }

  async function loop(): Promise<void> {
    while (!stopping.signal.aborted) {
      if (!(await deliverOne())) await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }

  offerCalls({
    go() {
      loops = Array.from({ length: connections }, () => loop());
    },
    async stop() {
      stopping.abort();
      await Promise.all(loops);
      await poster.close();
      await sql.end();
    },
  });
}
