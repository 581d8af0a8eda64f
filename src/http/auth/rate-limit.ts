import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import type { Scope } from '../../contract/statuses.ts';
import { ApiError } from '../api-error.ts';
import type { Identity } from './auth.ts';

/** Counts one request: by partner, else by the token's `sub`. The loan core is not limited. Throws 429 over the rate. */
export type CountRequest = (identity: Identity) => Promise<void>;

/** At most `perMinute` requests of each in a minute, counted in this process; 0 is no limit. */
export function createRateLimit(perMinute: number): CountRequest {
  if (perMinute === 0) return async () => undefined;
  const limiter = new RateLimiterMemory({ points: perMinute, duration: 60 });
  return async (identity) => {
    if (isCore(identity)) return;
    try {
      await limiter.consume(callerOf(identity));
    } catch (refused) {
      if (!(refused instanceof RateLimiterRes)) throw refused;
      const seconds = Math.max(1, Math.ceil(refused.msBeforeNext / 1_000));
      throw overLimit('limite de requisições por minuto excedido', seconds);
    }
  };
}

/** Unfinished requests of one caller: bounds connections with bodies that do not come, and the memory of unread answers. */
export const MAX_UNDER_WAY = 128;

/** Counts a request until the returned function is called: by partner, else by the token's `sub`. Throws 429 over the bound. */
export type BeginRequest = (identity: Identity) => () => void;

export function createUnderWay(): BeginRequest {
  const underWay = new Map<string, number>();
  return (identity) => {
    if (isCore(identity)) return () => undefined;
    const caller = callerOf(identity);
    const count = underWay.get(caller) ?? 0;
    if (count >= MAX_UNDER_WAY) throw overLimit('requisições demais em andamento', 1);
    underWay.set(caller, count + 1);
    return () => {
      const left = (underWay.get(caller) ?? 1) - 1;
      if (left === 0) underWay.delete(caller);
      else underWay.set(caller, left);
    };
  };
}

function isCore({ partnerId, scopes }: Identity): boolean {
  return partnerId === null && scopes.has('nucleo' satisfies Scope);
}

function callerOf({ partnerId, actor }: Identity): string {
  return partnerId ?? `sub ${actor}`;
}

function overLimit(message: string, retryAfterS: number): ApiError {
  return new ApiError('LIMITE_DE_REQUISICOES', message, { headers: { 'Retry-After': String(retryAfterS) } });
}
