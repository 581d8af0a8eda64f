/** The checks that every request passes, of the API and of the page beside it. */
import { logCpfRead } from '../audit/cpf-reads.ts';
import { createAdmission, createAuthenticator } from './auth/auth.ts';
import type { HttpDeps } from './deps.ts';
import { SMALL_BODY_PACE } from './body/body.ts';
import { createSemaphore, LARGE_BODY_PACE } from './body/large-bodies.ts';
import type { Gate } from './operation.ts';
import { createRateLimit, createUnderWay } from './auth/rate-limit.ts';

export function createGate({
  pool,
  reports,
  tokens,
  rateLimitPerMinute,
  turnWaitMs,
  bodyPace = SMALL_BODY_PACE,
  largeBodyPace = LARGE_BODY_PACE,
}: HttpDeps): Gate {
  const nameOfActive = async (partnerId: string): Promise<string | null> => {
    const [row] = await pool.run(
      (sql) => sql<{ name: string }[]>`select name from partners where id = ${partnerId} and active`,
    );
    return row?.name ?? null;
  };
  return {
    authenticate: createAuthenticator(tokens),
    countRequest: createRateLimit(rateLimitPerMinute),
    begin: createUnderWay(),
    admit: createAdmission(nameOfActive),
    logCpfRead: (read) => logCpfRead(pool, read),
    acquire: createSemaphore(turnWaitMs),
    pool,
    reports,
    bodyPace,
    largeBodyPace,
  };
}
