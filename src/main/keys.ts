import type { Config } from '../config.ts';
import type { Logger } from '../log-lines.ts';
import type { KeySource } from '../http/keys.ts';
import { openLocalKeys } from '../http/keys-local.ts';
import { createRemoteKeys } from '../http/keys-remote.ts';

/** The keys that verify tokens: the issuer's set in production, else the service's own pair. */
export async function openKeys(config: Config, log: Logger): Promise<{ source: KeySource; close(): void }> {
  const { jwtJwksUrl, jwtIssuer: issuer, jwtAudience: audience, dataDir } = config;
  if (jwtJwksUrl === null) {
    return { source: await openLocalKeys({ dataDir, issuer, audience }), close: () => undefined };
  }
  const remote = createRemoteKeys({ url: jwtJwksUrl, log });
  return { source: remote, close: () => remote.close() };
}
