/** A poller's decrypted secrets and credentials, in memory, each prepared once. */
import type { WebhookCredentials } from '../../contract/resources/webhook-credentials.ts';
import { BoundedCache } from '../target/bounded-cache.ts';
import { prepareCredentials } from './credentials.ts';
import type { Credentials } from './exchange.ts';
import { type SigningKey, signingKey } from './signature.ts';

/** Throws when the secret cannot be opened. `keyId` names the encryption key. */
export type OpenSecret = (webhookId: string, encrypted: Buffer) => { readonly secret: string; readonly keyId: string };
/** Throws when the credentials cannot be decrypted. */
type OpenCredentials = (webhookId: string, encrypted: Buffer) => WebhookCredentials;

interface OpenedKey {
  readonly key: SigningKey;
  readonly keyId: string;
}

export interface ToOpen {
  readonly openSecret: OpenSecret;
  /** Absent where no webhook has credentials that matter. */
  readonly openCredentials?: OpenCredentials;
}

export interface Openers {
  readonly openKey: (webhookId: string, encrypted: Buffer) => OpenedKey;
  /** Of a rotation's previous secret: null without one, and for one that cannot be opened. */
  readonly previousKey: (webhookId: string, encrypted: Buffer | null) => SigningKey | null;
  readonly credentialsOf: (webhookId: string, encrypted: Buffer) => Credentials;
}

const nameOf = (webhookId: string, encrypted: Buffer) => webhookId + encrypted.toString('latin1');

/** Opening each key anew was a sixth of a poller's busy time. */
export function rememberOpened({ openSecret, openCredentials }: ToOpen): Openers {
  const keys = new BoundedCache<OpenedKey>(10_000);
  const credentials = new BoundedCache<Credentials>(1_000);
  // All deliveries of a webhook in a claim share one buffer, so most are found without building a name.
  const seen = new WeakMap<Buffer, OpenedKey & { readonly webhookId: string }>();
  const openKey = (webhookId: string, encrypted: Buffer): OpenedKey => {
    const shared = seen.get(encrypted);
    if (shared?.webhookId === webhookId) return shared;
    const opened = keys.get(nameOf(webhookId, encrypted), () => {
      const { secret, keyId } = openSecret(webhookId, encrypted);
      return { key: signingKey(secret), keyId };
    });
    seen.set(encrypted, { ...opened, webhookId });
    return opened;
  };
  return {
    openKey,
    previousKey(webhookId, encrypted) {
      try {
        return encrypted && openKey(webhookId, encrypted).key;
      } catch {
        return null;
      }
    },
    credentialsOf(webhookId, encrypted) {
      if (openCredentials === undefined) throw new Error('credentials cannot be opened here');
      return credentials.get(nameOf(webhookId, encrypted), () =>
        prepareCredentials(openCredentials(webhookId, encrypted)),
      );
    },
  };
}
