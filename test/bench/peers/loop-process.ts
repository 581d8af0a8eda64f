/** The hand-written loop's process. Its statements are prepared, and the last three travel together. */
import type { PeerArguments } from '../contender.ts';
import { offerCalls } from '../harness/child.ts';
import { connect } from '../harness/server.ts';
import { insertAttempts } from './attempts.ts';
import { createPoster } from './post.ts';

interface Row {
  readonly id: string;
  readonly webhook: number;
  readonly body: string;
}

const PAUSE_MS = 50;

export interface LoopSettings {
  readonly connections: number;
}

/** Serves until the parent ends it. */
export function run({ databaseUrl, receiverUrl, settings: { connections } }: PeerArguments<LoopSettings>): void {
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
      const attempt = await poster.deliver(row.webhook, row.id, row.body);
      await Promise.all([
        insertAttempts(tx, [attempt]),
        tx`update outbox set status = 'delivered', attempts = attempts + 1 where id = ${row.id}`,
      ]);
      return true;
    });
  }

  async function loop(): Promise<void> {
    while (!stopping.signal.aborted) {
      if (!(await deliverOne())) await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
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
