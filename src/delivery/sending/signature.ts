import { hash } from 'node:crypto';

const SECRET_PREFIX = 'whsec_';

/** SHA-256 reads this many bytes at once. */
const BLOCK = 64;
/** Holds what is hashed, where it is no longer. */
const scratch = Buffer.alloc(16_384);

/** A key of HMAC-SHA256 (RFC 2104): what stands before the message in each of its two hashes. */
interface Key {
  readonly inner: Uint8Array;
  readonly outer: Uint8Array;
}

/** A webhook's secret, made ready for both signatures. */
export interface SigningKey {
  /** All of the text that the partner was shown (`whsec_…`), as UTF-8 bytes. */
  readonly contract: Key;
  /** The part behind `whsec_`, decoded from base64 (Standard Webhooks). */
  readonly standard: Key;
}

function keyOf(bytes: Buffer): Key {
  const block = Buffer.alloc(BLOCK);
  (bytes.length > BLOCK ? hash('sha256', bytes, 'buffer') : bytes).copy(block);
  return { inner: block.map((byte) => byte ^ 0x36), outer: block.map((byte) => byte ^ 0x5c) };
}

/** HMAC-SHA256 of `prefix`, which is ASCII, and `body`. Two plain hashes: an Hmac object of Node takes twice as long. */
function hmac({ inner, outer }: Key, prefix: string, body: Uint8Array, encoding: 'hex' | 'base64'): string {
  const end = BLOCK + prefix.length + body.length;
  const space = end > scratch.length ? Buffer.alloc(end) : scratch;
  space.set(inner);
  space.write(prefix, BLOCK, 'binary');
  space.set(body, BLOCK + prefix.length);
  const digest = hash('sha256', space.subarray(0, end), 'binary');
  scratch.set(outer);
  scratch.write(digest, BLOCK, 'binary');
  return hash('sha256', scratch.subarray(0, BLOCK + digest.length), encoding);
}

/** Makes the key of `secret` once, for many signatures. */
export function signingKey(secret: string): SigningKey {
  return {
    contract: keyOf(Buffer.from(secret, 'utf8')),
    standard: keyOf(Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64')),
  };
}

/** The value of `X-Webhook-Signature`: `sha256=` and the HMAC-SHA256, in lower-case hex, of the exact body bytes. */
export function sign(key: SigningKey, body: Uint8Array): string {
  return `sha256=${hmac(key.contract, '', body, 'hex')}`;
}

/** One signature of `webhook-signature` (Standard Webhooks): `v1,` and the base64 HMAC-SHA256 of id, timestamp and body. */
export function signStandard(key: SigningKey, id: string, timestamp: number, body: Uint8Array): string {
  return `v1,${hmac(key.standard, `${id}.${timestamp}.`, body, 'base64')}`;
}
