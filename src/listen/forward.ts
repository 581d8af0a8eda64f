/** One attempt at the receiver: the POST that a poller would send, by the same code, and a sentence about its outcome. */
import { HEADER_CHECKPOINT } from '../contract/delivery.ts';
import { type Addressed, deliveryHeaders } from '../delivery/sending/headers.ts';
import { bodyOf, createSender, type SendResult } from '../delivery/sending/send.ts';
import { signingKey } from '../delivery/sending/signature.ts';
import { shown } from './feed-api.ts';

export type Forwarded = Omit<Addressed, 'isTest'>;

export interface Tried {
  readonly isDelivered: boolean;
  /** `204 in 12 ms`. */
  readonly text: string;
}

export interface ForwarderOptions {
  readonly url: string;
  /** `whsec_` and base64. */
  readonly secret: string;
  readonly now: () => Date;
  /** The newest checkpoint, for each POST; null: there is none. */
  readonly checkpoint?: () => string | null;
}

/** Allows what a sandbox does, `http:` and any host, because the URL is the caller's own. */
export function createForwarder({ url, secret, now, checkpoint = () => null }: ForwarderOptions) {
  const sender = createSender({ allowInsecure: true });
  const key = signingKey(secret);
  return {
    attempt: async (delivery: Forwarded) => {
      const headers = deliveryHeaders({ ...delivery, isTest: false }, key, null, now());
      const line = checkpoint();
      if (line !== null) headers.push(HEADER_CHECKPOINT, line);
      const result = await sender.send({ url, body: delivery.body, headers });
      return { isDelivered: result.outcome === 'entregue', text: textOf(result) };
    },
    close: () => sender.close(),
  };
}

function textOf({ outcome, statusCode, durationMs, error, answer }: SendResult): string {
  if (outcome === 'entregue') return `${statusCode} in ${durationMs} ms`;
  if (outcome === 'tempo_esgotado') return `no answer within ${Math.round(durationMs / 1_000)} s`;
  if (statusCode === null) return `${shown(error ?? outcome)}${hintOf(error)}`;
  const body = bodyOf(answer ?? '');
  const said = body === '' ? '' : `, "${shown(body)}"`;
  const hint = statusCode === 401 || statusCode === 403 ? ': does the receiver know the secret?' : '';
  return `${statusCode} in ${durationMs} ms${said}${hint}`;
}

function hintOf(error: string | null): string {
  return error?.startsWith('ECONNREFUSED') === true ? ': is the receiver up?' : '';
}
