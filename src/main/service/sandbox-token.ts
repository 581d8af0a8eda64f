/** The token behind the page's sandbox button: the sandbox partner's own, with every scope that a partner may have. */
import type { Config } from '../../config.ts';
import { SCOPES, SCOPES_WITHOUT_PARTNER } from '../../contract/statuses.ts';
import type { Pool } from '../../db/pool.ts';
import type { LocalKeys } from '../../http/auth/keys-local.ts';
import { ensureSandboxPartner } from '../../steering/partners.ts';

const TTL_S = 8 * 60 * 60;

/** Null outside of the sandbox, and where an issuer signs the tokens. */
export function sandboxTokens({ sandbox }: Config, pool: Pool, own: LocalKeys | null): (() => Promise<string>) | null {
  if (!sandbox || own === null) return null;
  const scopes = SCOPES.filter((scope) => !SCOPES_WITHOUT_PARTNER.includes(scope) && scope !== 'auditoria:cpf');
  return async () => {
    const { id: partnerId } = await pool.run(ensureSandboxPartner);
    return own.signToken({ partnerId, scopes, ttlSeconds: TTL_S });
  };
}
