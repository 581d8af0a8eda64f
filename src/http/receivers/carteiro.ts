/**
 * Verifies the signature of a delivery. A file to copy: it needs Node (22.18 or later runs it as it is) and nothing else.
 * Give it the raw bytes of the body, before any parsing, and every secret in force: two while a rotation lasts.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';

/** As node:http gives them: names in lower case. */
type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Older or newer deliveries are refused, so that nobody can send a recorded one again. */
const TOLERANCE_S = 300;

/** True when one of `secrets` signed exactly these bytes within five minutes of `nowS`. Reads the Standard Webhooks headers. */
export function verify(
  rawBody: Uint8Array,
  headers: Headers,
  secrets: readonly string[],
  nowS: number = Date.now() / 1_000,
): boolean {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': given } = headers;
  if (typeof id !== 'string' || typeof timestamp !== 'string' || typeof given !== 'string') return false;
  if (!/^\d{1,12}$/.test(timestamp) || Math.abs(nowS - Number(timestamp)) > TOLERANCE_S) return false;
  const signatures = given.split(' ');
  return secrets.some((secret) => {
    const key = secret.replace(/^whsec_/, '');
    if (!/^[A-Za-z0-9+/]+={0,2}$/.test(key)) return false;
    const expected = `v1,${createHmac('sha256', Buffer.from(key, 'base64')).update(`${id}.${timestamp}.`).update(rawBody).digest('base64')}`;
    return signatures.some((signature) => isSame(signature, expected));
  });
}

/**
 * True when one of `secrets` signed exactly these bytes. Reads the contract's headers `X-Webhook-Signature` and, during a
 * rotation, `X-Webhook-Signature-Previous`. They sign no time: a recorded delivery passes, so deduplicate by
 * `X-Webhook-Delivery`, or use {@link verify}.
 */
export function verifyBody(rawBody: Uint8Array, headers: Headers, secrets: readonly string[]): boolean {
  const given = [headers['x-webhook-signature'], headers['x-webhook-signature-previous']];
  return secrets.some((secret) => {
    if (secret === '') return false;
    const expected = `sha256=${createHmac('sha256', secret).update(rawBody).digest('hex')}`;
    return given.some((signature) => typeof signature === 'string' && isSame(signature, expected));
  });
}

/** In constant time. */
function isSame(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
