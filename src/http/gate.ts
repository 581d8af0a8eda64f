/** The checks that every request passes, of the API and of the page beside it. */
import { logCpfRead } from '../audit/cpf-reads.ts';
import { createAdmission, createAuthenticator } from './auth/auth.ts';
import type { HttpDeps } from './deps.ts';
import { createTurns, LARGE_BODY_PACE } from './body/large-bodies.ts';
import type { Gate } from './operation.ts';
import { createRateLimit } from './auth/rate-limit.ts';

export function createGate({
  pool,
  tokens,
  rateLimitPerMinute,
  turnWaitMs,
  largeBodyPace = LARGE_BODY_PACE,
}: HttpDeps): Gate {
  const isActivePartner = async (partnerId: string): Promise<boolean> => {
    const rows = await pool.run((sql) => sql`select 1 from partners where id = ${partnerId} and active`);
    return rows.length === 1;
  };
  return {
    authenticate: createAuthenticator(tokens),
    countRequest: createRateLimit(rateLimitPerMinute),
    admit: createAdmission(isActivePartner),
    logCpfRead: (read) => logCpfRead(pool, read),
    takeTurn: createTurns(turnWaitMs),
    largeBodyPace,
  };
}
