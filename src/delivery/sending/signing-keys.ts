import { type SigningKey, signingKey } from './signature.ts';

/** Throws when the secret cannot be opened. `keyId` names the encryption key. */
export type OpenSecret = (webhookId: string, encrypted: Buffer) => { readonly secret: string; readonly keyId: string };

interface OpenedKey {
  readonly key: SigningKey;
  readonly keyId: string;
}

/** As {@link OpenSecret}, prepared for signing. */
export type OpenKey = (webhookId: string, encrypted: Buffer) => OpenedKey;

const REMEMBERED = 10_000;

/** Caches opened keys: opening each anew was a sixth of a poller's busy time. Failures are not cached. */
export function rememberKeys(openSecret: OpenSecret): OpenKey {
  const known = new Map<string, OpenedKey>();
  // All deliveries of a webhook in a claim share one buffer, so most are found without building a key.
  const seen = new WeakMap<Buffer, OpenedKey & { readonly webhookId: string }>();
  return (webhookId, encrypted) => {
    const shared = seen.get(encrypted);
    if (shared?.webhookId === webhookId) return shared;
    const opened = open(webhookId, encrypted);
    seen.set(encrypted, { ...opened, webhookId });
    return opened;
  };
  function open(webhookId: string, encrypted: Buffer): OpenedKey {
    const name = webhookId + encrypted.toString('latin1');
    const found = known.get(name);
    if (found) return found;
    const { secret, keyId } = openSecret(webhookId, encrypted);
    const opened = { key: signingKey(secret), keyId };
    if (known.size >= REMEMBERED) known.clear();
    known.set(name, opened);
    return opened;
  }
}
