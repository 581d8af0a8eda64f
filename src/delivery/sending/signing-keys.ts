/** The keys a poller signs with, each decrypted once. */
import { type SigningKey, signingKey } from './signature.ts';

/** Opens a webhook's encrypted secret; throws when it cannot. `keyId` names the encryption key. */
export type OpenSecret = (webhookId: string, encrypted: Buffer) => { readonly secret: string; readonly keyId: string };

interface OpenedKey {
  readonly key: SigningKey;
  /** The encryption key that the secret was encrypted with. */
  readonly keyId: string;
}

/** Opens a webhook's encrypted secret for signing; throws when it cannot. */
export type OpenKey = (webhookId: string, encrypted: Buffer) => OpenedKey;

/** How many keys a process remembers. */
const REMEMBERED = 10_000;

/**
 * Remembers the keys of what `openSecret` has opened, for a poller that signs with the same few secrets thousands of
 * times a second: opening each anew was a sixth of its busy time. What cannot be opened is tried again each time.
 */
export function rememberKeys(openSecret: OpenSecret): OpenKey {
  const known = new Map<string, OpenedKey>();
  // All deliveries that a claim takes for a webhook share one buffer: most are found without building a name.
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
