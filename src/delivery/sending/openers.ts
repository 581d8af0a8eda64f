/** A poller's decrypted secrets and credentials, in memory, each prepared once. */
import type { WebhookCredentials } from '../../contract/resources/webhook-credentials.ts';
import { prepareCredentials } from './credentials.ts';
import type { Credentials } from './exchange.ts';
import { type OpenKey, type OpenSecret, rememberKeys } from './signing-keys.ts';

/** Throws when the credentials cannot be decrypted. */
type OpenCredentials = (webhookId: string, encrypted: Buffer) => WebhookCredentials;
type CredentialsOf = (webhookId: string, encrypted: Buffer) => Credentials;

const REMEMBERED = 1_000;

/** For a poller without the key. */
const neverAny: CredentialsOf = () => {
  throw new Error('credentials cannot be opened here');
};

/** Failures are not cached. */
function rememberCredentials(open: OpenCredentials): CredentialsOf {
  const known = new Map<string, Credentials>();
  return (webhookId, encrypted) => {
    const name = webhookId + encrypted.toString('latin1');
    const found = known.get(name);
    if (found !== undefined) return found;
    const prepared = prepareCredentials(open(webhookId, encrypted));
    if (known.size >= REMEMBERED) known.clear();
    known.set(name, prepared);
    return prepared;
  };
}

export interface ToOpen {
  readonly openSecret: OpenSecret;
  /** Absent where no webhook has credentials that matter. */
  readonly openCredentials?: OpenCredentials;
}

export interface Openers {
  readonly openKey: OpenKey;
  readonly credentialsOf: CredentialsOf;
}

export function rememberOpened({ openSecret, openCredentials }: ToOpen): Openers {
  const credentialsOf = openCredentials === undefined ? neverAny : rememberCredentials(openCredentials);
  return { openKey: rememberKeys(openSecret), credentialsOf };
}
