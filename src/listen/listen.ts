/**
 * Forwards the partner's feed to a machine without a public address.
 * Invariant: a running listener skips no event, because it reads the next page after the last one. `--since` repeats the
 * unfinished events of an earlier run. A repeated delivery has the same `X-Webhook-Delivery`, so the receiver recognises it.
 * Alternative: a webhook for the listener. Its token would need write rights, webhooks would be left behind, and without a
 * running listener it would be a failing endpoint.
 */
import pLimit from 'p-limit';
import { type FeedAnswer, type FeedApi, shown } from './feed-api.ts';
import type { Forwarded, Tried } from './forward.ts';

const PAGE = 100;
const CHECK_EVERY_MS = 1_000;
/** The API reads a future instant as now, on its own clock. */
const NOW = new Date('9999-12-31T00:00:00Z');

/** Seconds between attempts: the real schedule, shortened for someone who watches. */
const RETRY_DELAYS_S = [2, 5, 15, 30, 60];
const MAX_ATTEMPTS = RETRY_DELAYS_S.length + 1;
const MAX_IN_FLIGHT = 8;
/** With this many open deliveries no further page is read. */
const MAX_OPEN = 500;

export interface ListenOptions {
  readonly api: FeedApi;
  readonly attempt: (delivery: Forwarded) => Promise<Tried>;
  /** A line for each attempt. */
  readonly print: (line: string) => void;
  /** Resolves after this time, or when `stopping` is aborted. */
  readonly pause: (ms: number, stopping: AbortSignal) => Promise<void>;
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
  const limit = pLimit(MAX_IN_FLIGHT);
  const open = new Set<Promise<void>>();
  let unfinished = 0;
  const failed = await follow({ ...options, stopping }, async (deliveries) => {
    const wanted = deliveries.filter(({ event }) => names === null || names.ok.includes(event));
    unfinished += wanted.length;
    for (const delivery of wanted) {
      const forwarding = forward({ ...options, stopping }, limit, delivery).then((isFinished) => {
        if (isFinished) unfinished -= 1;
        open.delete(forwarding);
      });
      open.add(forwarding);
    }
    while (open.size >= MAX_OPEN) await Promise.race(open);
  });
  ended.abort();
  await Promise.all(open);
  return { failed, unfinished };
}

/** Tries until the delivery arrives or is given up. False when it was stopped before that. */
async function forward(
  { attempt, print, pause, stopping }: ListenOptions,
  limit: ReturnType<typeof pLimit>,
  delivery: Forwarded,
): Promise<boolean> {
  const said = `${shown(delivery.event)}  ${shown(delivery.id)}`;
  for (let number = 1; ; number += 1) {
    const tried = await limit(async () => (stopping.aborted ? null : attempt(delivery)));
    if (tried === null) return false;
    if (tried.isDelivered) {
      print(`${said}  ${tried.text}`);
      return true;
    }
    const delayS = RETRY_DELAYS_S[number - 1];
    const next = delayS === undefined ? 'given up' : `again in ${delayS} s`;
    print(`${said}  attempt ${number} of ${MAX_ATTEMPTS} failed: ${tried.text}; ${next}`);
    if (delayS === undefined) return true;
    await pause(delayS * 1_000, stopping);
  }
}

type FedEvent = Extract<FeedAnswer, { ok: unknown }>['ok']['itens'][number];

/**
 * Uses the id of the event's delivery to `webhookId`, so that the receiver recognises a delivery it has; without one, the event's own id.
 * Empty without an envelope.
 */
function deliveryOf(fed: FedEvent, webhookId: string | null): readonly Forwarded[] {
  const { evento_id: eventId, envelope, versao_emprestimo: loanVersion, entregas } = fed;
  if (envelope === undefined) return [];
  const id = entregas.find((delivery) => delivery.webhook_id === webhookId)?.id ?? eventId;
  return [{ id, event: envelope.evento, body: Buffer.from(JSON.stringify(envelope)), loanVersion }];
}

async function follow(
  { api, since, webhookId, note, pause, stopping }: ListenOptions,
  take: (deliveries: readonly Forwarded[]) => Promise<void>,
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
      const { itens, proximo_cursor: next } = answer.ok;
      for (const { evento_id: id, envelope, apagado } of itens)
        if (envelope === undefined && apagado === undefined)
          note(`the event ${id} is not forwarded: the API says that it cannot be read`);
      await take(itens.flatMap((fed) => deliveryOf(fed, webhookId)));
      cursor = next ?? cursor;
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
      return 'goOn' in answer || answer.ok.ha_mais ? 0 : CHECK_EVERY_MS;
    },
  };
}

function failedBy(answer: FeedAnswer | Awaited<ReturnType<FeedApi['readNames']>>): NonNullable<Ending['failed']> {
  if ('refused' in answer) return { kind: 'refused', sentence: answer.refused };
  if ('away' in answer) return { kind: 'away', sentence: answer.away };
  throw new Error('an answer that is no failure');
}
