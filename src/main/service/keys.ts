/** Who signs and who verifies tokens. */
import type { Config } from '../../config.ts';
import { SCOPES, SCOPES_WITHOUT_PARTNER } from '../../contract/statuses.ts';
import type { Pool } from '../../db/pool.ts';
import { type LocalKeys, openLocalKeys } from '../../http/auth/keys-local.ts';
import { createRemoteKeys } from '../../http/auth/keys-remote.ts';
import type { Logger } from '../../log-lines.ts';
import { ensureSandboxPartner } from '../../admin/partners.ts';

const SANDBOX_TTL_S = 8 * 60 * 60;

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

/** The sandbox partner's token with every partner's scope, for the page's button; null elsewhere, and where an issuer signs. */
export function sandboxTokens({ sandbox }: Config, pool: Pool, own: LocalKeys | null): (() => Promise<string>) | null {
  if (!sandbox || own === null) return null;
  const scopes = SCOPES.filter((scope) => !SCOPES_WITHOUT_PARTNER.includes(scope) && !/cpf$|mascarado$/.test(scope));
  return async () => {
    const { id: partnerId } = await pool.run(ensureSandboxPartner);
    return own.signToken({ partnerId, scopes, ttlSeconds: SANDBOX_TTL_S });
  };
}
