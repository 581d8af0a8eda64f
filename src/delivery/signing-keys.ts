/** The keys a poller signs with, opened once. */
import { type SigningKey, signingKey } from './signature.ts';

/** Opens a registration's sealed secret; throws when it cannot. `keyId` names the sealing key. */
export type OpenSecret = (webhookId: string, sealed: Buffer) => { readonly secret: string; readonly keyId: string };

interface OpenedKey {
  readonly key: SigningKey;
  /** The sealing key that the secret was sealed with. */
  readonly keyId: string;
}

/** Opens a registration's sealed secret for signing; throws when it cannot. */
export type OpenKey = (webhookId: string, sealed: Buffer) => OpenedKey;

/** How many keys a process remembers. */
const REMEMBERED = 10_000;

/**
 * Remembers the keys of what `openSecret` has opened, for a poller that signs with the same few secrets thousands of
 * times a second: opening each anew was a sixth of its busy time. What cannot be opened is tried again each time.
 */
export function rememberKeys(openSecret: OpenSecret): OpenKey {
  const known = new Map<string, OpenedKey>();
  // All deliveries that a claim takes for a registration share one buffer: most are found without building a name.
  const seen = new WeakMap<Buffer, OpenedKey & { readonly webhookId: string }>();
  return (webhookId, sealed) => {
    const shared = seen.get(sealed);
    if (shared?.webhookId === webhookId) return shared;
    const opened = open(webhookId, sealed);
    seen.set(sealed, { ...opened, webhookId });
    return opened;
  };
  function open(webhookId: string, sealed: Buffer): OpenedKey {
    const name = webhookId + sealed.toString('latin1');
    const found = known.get(name);
    if (found) return found;
    const { secret, keyId } = openSecret(webhookId, sealed);
    const opened = { key: signingKey(secret), keyId };
    if (known.size >= REMEMBERED) known.clear();
    known.set(name, opened);
    return opened;
  }
}
