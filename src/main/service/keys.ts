import type { Config } from '../../config.ts';
import type { Logger } from '../../log-lines.ts';
import type { KeySource } from '../../http/auth/keys.ts';
import { type LocalKeys, openLocalKeys } from '../../http/auth/keys-local.ts';
import { createRemoteKeys } from '../../http/auth/keys-remote.ts';

export interface OpenKeys {
  readonly source: KeySource;
  /** The service's own pair, which signs too; null where an issuer does that. */
  readonly own: LocalKeys | null;
  close(): void;
}

/** The keys that verify tokens: the issuer's set in production, else the service's own pair. */
export async function openKeys(config: Config, log: Logger): Promise<OpenKeys> {
  const { jwtJwksUrl, jwtIssuer: issuer, jwtAudience: audience, dataDir } = config;
  if (jwtJwksUrl === null) {
    const own = await openLocalKeys({ dataDir, issuer, audience });
    return { source: own, own, close: () => undefined };
  }
  const remote = createRemoteKeys({ url: jwtJwksUrl, log });
  return { source: remote, own: null, close: () => remote.close() };
}
