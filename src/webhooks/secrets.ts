/**
 * Signing secrets, and how they lie in the database. No error of this file carries a secret, a key or a byte of either.
 *
 * Encrypted form: key id (8 bytes, ASCII hex) | iv (12) | tag (16) | ciphertext, AES-256-GCM. The associated data is `webhook id |
 * key id`, so a blob copied to another webhook's row does not open. The first key of the ring encrypts, every key opens.
 */
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';

const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
export const KEY_ID_BYTES = 8;
const IV_BYTES = 12;
const TAG_BYTES = 16;
const HEADER_BYTES = KEY_ID_BYTES + IV_BYTES + TAG_BYTES;

/** An encrypted secret that this vault cannot open: unknown key, other webhook, or altered bytes. */
export class DecryptionFailed extends Error {
  override name = 'DecryptionFailed';
}

export interface Vault {
  readonly keyId: string;
  encrypt(webhookId: string, secret: string): Buffer;
  /** Decrypts a blob encrypted for the same webhook; `keyId` names the key that had encrypted it. Throws {@link DecryptionFailed}. */
  decrypt(webhookId: string, blob: Buffer): { readonly secret: string; readonly keyId: string };
}

/** As `decrypt`; null for what the vault cannot open. */
export function tryDecrypt(vault: Vault, webhookId: string, blob: Buffer): ReturnType<Vault['decrypt']> | null {
  try {
    return vault.decrypt(webhookId, blob);
  } catch (error) {
    if (error instanceof DecryptionFailed) return null;
    throw error;
  }
}

/** A new secret as the partner sees it: `whsec_` and the base64 of 32 random bytes. */
export function newSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}

/** The public name of a key: the first 8 hex digits of its SHA-256. */
export function keyIdOf(key: Buffer): string {
  return createHash('sha256').update(key).digest('hex').slice(0, KEY_ID_BYTES);
}

function associatedData(webhookId: string, keyId: string): Buffer {
  return Buffer.from(`${webhookId.toLowerCase()}|${keyId}`);
}

/** A vault over a ring of 32-byte keys, newest first. Throws when the ring is empty or a key has another length. */
export function createVault(keys: readonly Buffer[]): Vault {
  const newest = keys[0];
  if (!newest) throw new Error('the key ring is empty');
  if (keys.some((key) => key.length !== KEY_BYTES)) throw new Error(`every key of the ring has ${KEY_BYTES} bytes`);
  const ring = new Map(keys.map((key) => [keyIdOf(key), key]));
  const newestId = keyIdOf(newest);

  return {
    keyId: newestId,

    encrypt(webhookId, secret) {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv(CIPHER, newest, iv, { authTagLength: TAG_BYTES });
      cipher.setAAD(associatedData(webhookId, newestId));
      const ciphertext = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
      return Buffer.concat([Buffer.from(newestId), iv, cipher.getAuthTag(), ciphertext]);
    },

    decrypt(webhookId, blob) {
      if (blob.length <= HEADER_BYTES)
        throw new DecryptionFailed(`encrypted secret of webhook ${webhookId} is too short`);
      const keyId = blob.subarray(0, KEY_ID_BYTES).toString('latin1');
      const key = ring.get(keyId);
      if (!key) throw new DecryptionFailed(`no key of the ring has encrypted the secret of webhook ${webhookId}`);
      const iv = blob.subarray(KEY_ID_BYTES, KEY_ID_BYTES + IV_BYTES);
      const decipher = createDecipheriv(CIPHER, key, iv, { authTagLength: TAG_BYTES });
      decipher.setAAD(associatedData(webhookId, keyId));
      decipher.setAuthTag(blob.subarray(KEY_ID_BYTES + IV_BYTES, HEADER_BYTES));
      try {
        const plain = Buffer.concat([decipher.update(blob.subarray(HEADER_BYTES)), decipher.final()]);
        return { secret: plain.toString('utf8'), keyId };
      } catch {
        throw new DecryptionFailed(`the encrypted secret of webhook ${webhookId} was altered or belongs to another`);
      }
    },
  };
}
