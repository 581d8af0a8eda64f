/**
 * The partner's feed, forwarded to a machine without a public address.
 * Invariant: while it runs no event is skipped: the next page is read after the last one. `--since` reads again what an earlier run did not
 * finish. A repeated delivery has the same `X-Webhook-Delivery`, so the receiver recognises it.
 * Alternative: a webhook of the listener's own. Its token would have to write, registrations would be left behind, and while nobody listens
 * it would count as a failing endpoint.
 */
import type { FeedAnswer, FeedApi, FedEvent } from './feed-api.ts';
import type { Forwarded } from './forward.ts';
import { Forwarding, type ForwardingOptions } from './forwarding.ts';

const PAGE = 100;
const LOOK_EVERY_MS = 1_000;
/** The API reads a future instant as now, on its own clock. */
const NOW = new Date('9999-12-31T00:00:00Z');

export interface ListenOptions extends Omit<ForwardingOptions, 'stopping'> {
  readonly api: FeedApi;
  /** Begins with the first event recorded at or after it; null: with the next new event. */
  readonly since: Date | null;
  /** Only events this webhook subscribes to, under its deliveries' ids; null for all events. */
  readonly webhookId: string | null;
  /** Lines that are no attempt: the API is away, a cursor moved. */
  readonly note: (line: string) => void;
  readonly stopping: AbortSignal;
}

export interface Ending {
  /** Null when it was stopped; else a sentence with the failure and advice. */
  readonly failed: { readonly kind: 'refused' | 'away'; readonly sentence: string } | null;
  /** Deliveries neither delivered nor given up. */
  readonly unfinished: number;
}

/** Forwards until `stopping` is aborted, the API refuses, or it never answered. */
export async function listen(options: ListenOptions): Promise<Ending> {
  const { api, webhookId } = options;
  const ended = new AbortController();
  const stopping = AbortSignal.any([options.stopping, ended.signal]);
  const names = webhookId === null ? null : await api.readNames(webhookId, stopping);
  if (names !== null && !('ok' in names)) {
    return { failed: options.stopping.aborted ? null : failedBy(names), unfinished: 0 };
  }
  const forwarding = new Forwarding({ ...options, stopping });
  const failed = await follow({ ...options, stopping }, async (events) => {
    const wanted = events.filter(({ event }) => names === null || names.ok.includes(event));
    forwarding.take(wanted.map((fed) => deliveryOf(fed, webhookId)));
    await forwarding.room();
  });
  ended.abort();
  await forwarding.end();
  return { failed, unfinished: forwarding.unfinished };
}

/**
 * Uses the id of the event's delivery to `webhookId`, so that the receiver recognises a delivery it has; without one, the event's own id.
 */
function deliveryOf(
  { eventId, event, envelope, loanVersion, deliveries }: FedEvent,
  webhookId: string | null,
): Forwarded {
  const own = deliveries.find((delivery) => delivery.webhookId === webhookId);
  return { id: own?.id ?? eventId, event, body: Buffer.from(JSON.stringify(envelope)), loanVersion };
}

async function follow(
  { api, since, note, pause, stopping }: ListenOptions,
  take: (events: readonly FedEvent[]) => Promise<void>,
): Promise<Ending['failed']> {
  const connection = createConnection(note);
  let cursor: string | null = null;
  while (!stopping.aborted) {
    const answer = await api.readFeed({ after: cursor, since: since ?? NOW, limit: PAGE }, stopping);
    if (stopping.aborted) break;
    const waitMs = connection.waitMs(answer);
    if (waitMs === null) return failedBy(answer);
    if ('goOn' in answer) {
      note('the database behind the API went back to an earlier moment: deliveries may come twice, with the same ids');
      cursor = answer.goOn;
    } else if ('ok' in answer) {
      for (const id of answer.ok.unreadable)
        note(`the event ${id} is not forwarded: the API says that it cannot be read`);
      await take(answer.ok.events);
      cursor = answer.ok.next ?? cursor;
    }
    if (waitMs > 0) await pause(waitMs, stopping);
  }
  return null;
}

/** Logs once that the API is away, and once that it is back. */
function createConnection(note: (line: string) => void) {
  let state: 'unknown' | 'reached' | 'away' = 'unknown';
  return {
    /** Null when there is no need to wait. */
    waitMs(answer: FeedAnswer): number | null {
      if ('refused' in answer || ('away' in answer && state === 'unknown')) return null;
      if ('away' in answer) {
        if (state === 'reached') note(`${answer.away} It is asked again until it answers.`);
        state = 'away';
        return answer.waitS * 1_000;
      }
      if (state === 'unknown') note('listening (Ctrl-C ends it)');
      if (state === 'away') note('the API answers again');
      state = 'reached';
      return 'goOn' in answer || answer.ok.hasMore ? 0 : LOOK_EVERY_MS;
    },
  };
}

function failedBy(answer: FeedAnswer | Awaited<ReturnType<FeedApi['readNames']>>): NonNullable<Ending['failed']> {
  if ('refused' in answer) return { kind: 'refused', sentence: answer.refused };
  if ('away' in answer) return { kind: 'away', sentence: answer.away };
  throw new Error('an answer that is no failure');
}
