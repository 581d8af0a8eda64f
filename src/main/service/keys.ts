import type { Config } from '../../config.ts';
import type { Logger } from '../../log-lines.ts';
import { openLocalKeys } from '../../http/auth/keys-local.ts';
import { createRemoteKeys } from '../../http/auth/keys-remote.ts';

/** The keys that verify tokens: the issuer's set in production, else the service's own pair, which signs too. */
export async function openKeys(config: Config, log: Logger) {
  const { jwtJwksUrl, jwtIssuer: issuer, jwtAudience: audience, dataDir } = config;
  if (jwtJwksUrl === null) {
    const own = await openLocalKeys({ dataDir, issuer, audience });
    return { source: own, own, close: () => undefined };
  }
  const remote = createRemoteKeys({ url: jwtJwksUrl, log });
  return { source: remote, own: null, close: () => remote.close() };
}
