import { createHmac } from 'node:crypto';

/**
 * The value of `X-Webhook-Signature`: `sha256=` and the HMAC-SHA256, in lower-case hex, of the exact body bytes.
 * The key is the secret as the partner was shown it, all of it (`whsec_…`), as UTF-8 bytes (contract, "Authentication" 5).
 */
export function sign(secret: string, body: Uint8Array): string {
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
}
