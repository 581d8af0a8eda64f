import { createHmac } from 'node:crypto';

/**
 * The value of `X-Webhook-Signature`: `sha256=` and the HMAC-SHA256, in lower-case hex, of the exact body bytes.
 * The key is the secret as the partner was shown it, all of it (`whsec_…`), as UTF-8 bytes (contract, "Authentication" 5).
 */
export function sign(secret: string, body: Uint8Array): string {
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
}

const SECRET_PREFIX = 'whsec_';

/**
 * One signature of `webhook-signature` (Standard Webhooks): `v1,` and the base64 HMAC-SHA256 of id, timestamp and body.
 * The key is what stands behind `whsec_`, decoded from base64; the contract's own signature takes all of it as text.
 */
export function signStandard(secret: string, id: string, timestamp: number, body: Uint8Array): string {
  const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64');
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')}`;
}
