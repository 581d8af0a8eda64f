/**
 * What is live: server-sent events, made anew every few seconds for as long as somebody looks. A stream ends with its session,
 * after {@link LIFE_MS} (the browser then opens another, checked anew), and with the process. A reader has at most {@link
 * STREAMS_EACH}, all have {@link STREAMS}: each holds a connection that can't give way.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { streamSSE } from 'hono/streaming';
import { ApiError } from '../http/api-error.ts';
import type { Logger } from '../log-lines.ts';
import type { Visit } from './env.ts';
import type { Gatekeeper } from './session.ts';

const LIFE_MS = 5 * 60_000;
const STREAMS_EACH = 8;
const STREAMS = 200;
/** How long a browser waits before it opens the next. */
const RETRY_MS = 2_000;

interface Message {
  readonly event: string;
  readonly data: string;
}

export type Streams = ReturnType<typeof createStreams>;

export function createStreams(gate: Gatekeeper, log: Logger) {
  const closing = new AbortController();
  const held = new Map<string, number>();
  let all = 0;
  const hold = (reader: string, change: number) => {
    all += change;
    const count = (held.get(reader) ?? 0) + change;
    if (count > 0) held.set(reader, count);
    else held.delete(reader);
  };
  return {
    /** Sends what `make` makes, at once and then every `everyMs`; nothing when it is as it was. */
    open({ c, session }: Visit, everyMs: number, make: () => Promise<readonly Message[]>): Response {
      const { partnerId, actor } = session.identity;
      const reader = partnerId ?? `sub ${actor}`;
      if (all >= STREAMS || (held.get(reader) ?? 0) >= STREAMS_EACH) throw tooMany();
      hold(reader, 1);
      const ended = AbortSignal.any([closing.signal, AbortSignal.timeout(LIFE_MS)]);
      const gone = new AbortController();
      return streamSSE(c, async (stream) => {
        stream.onAbort(() => gone.abort());
        const signal = AbortSignal.any([ended, gone.signal]);
        const sent = new Map<string, string>();
        try {
          await stream.write(`retry: ${RETRY_MS}\n\n`);
          while (!signal.aborted && session.endsAt.getTime() > Date.now()) {
            await gate.admit(session.identity);
            const fresh = (await make()).filter(({ event, data }) => sent.get(event) !== data);
            for (const { event, data } of fresh) sent.set(event, data);
            // A comment, so that nobody on the way takes the connection for dead.
            if (fresh.length === 0) await stream.write(':\n\n');
            for (const message of fresh) await stream.writeSSE(message);
            await sleep(everyMs, undefined, { signal }).catch(() => undefined);
          }
        } catch (error) {
          if (!signal.aborted) log.warn({ error: (error as Error).name, route: c.var.route }, 'a live view ended');
        } finally {
          hold(reader, -1);
        }
      });
    },
    close: () => closing.abort(),
  };
}

function tooMany(): ApiError {
  const headers = { 'Retry-After': '30' };
  return new ApiError('LIMITE_DE_REQUISICOES', 'há páginas ao vivo demais abertas', { headers });
}
