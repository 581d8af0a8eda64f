import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import type { Scope } from '../../contract/statuses.ts';
import { ApiError } from '../api-error.ts';
import type { Identity } from './auth.ts';

/**
 * Counts one request: by partner, else by the token's `sub`. The loan core is not limited. Throws 429 over the rate.
 */
export type CountRequest = (identity: Identity) => Promise<void>;

/** At most `perMinute` requests of each in a minute, counted in this process; 0 is no limit. */
export function createRateLimit(perMinute: number): CountRequest {
  if (perMinute === 0) return async () => undefined;
  const limiter = new RateLimiterMemory({ points: perMinute, duration: 60 });
  return async ({ partnerId, actor, scopes }) => {
    if (partnerId === null && scopes.has('nucleo' satisfies Scope)) return;
    try {
      await limiter.consume(partnerId ?? `sub ${actor}`);
    } catch (refused) {
      if (!(refused instanceof RateLimiterRes)) throw refused;
      const seconds = Math.max(1, Math.ceil(refused.msBeforeNext / 1_000));
      throw new ApiError('LIMITE_DE_REQUISICOES', 'limite de requisições por minuto excedido', {
        headers: { 'Retry-After': String(seconds) },
      });
    }
  };
}
