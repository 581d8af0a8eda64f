/** The one place where a failure becomes an answer. */
import { randomUUIDv7 } from 'node:crypto';
import type { Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { ERROR_STATUS, type ErrorBody } from '../contract/errors.ts';
import { isUnknownServer } from '../db/known-server.ts';
import { logUnavailable } from '../db/outage-log.ts';
import { isUnavailable } from '../db/unavailable.ts';
import { VersionConflict } from '../log/append.ts';
import type { Logger } from '../log-lines.ts';
import { NotAsked, RegistryFailure } from '../registry/port.ts';
import { ApiError, unavailable } from './api-error.ts';
import type { Env } from './request.ts';
import { KeysUnavailable } from './auth/keys.ts';

export function errorBody(error: ApiError, requestId: string): ErrorBody {
  return {
    codigo: error.code,
    mensagem: error.message,
    ...(error.details.length > 0 && { detalhes: [...error.details] }),
    requisicao_id: requestId,
  };
}

/** A refusal before the app is reached, with the headers that the app gives all answers. */
export function bareRefusal(error: ApiError) {
  const requestId = randomUUIDv7();
  const headers = {
    'Content-Type': 'application/json',
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    ...error.headers,
    'X-Request-Id': requestId,
  };
  return { status: ERROR_STATUS[error.code], headers, body: JSON.stringify(errorBody(error, requestId)) };
}

/** Maps whatever a route threw; a fault of ours is logged and shows nothing. */
export function answerError(log: Logger) {
  return (error: unknown, c: Context<Env>): Response => {
    const known = toApiError(error);
    logFault(log, known, c.var);
    if (known.code === 'CREDENCIAL_INVALIDA')
      c.set('refused', known.cause instanceof Error ? known.cause.message : known.message);
    return c.json(errorBody(known, c.var.requestId), ERROR_STATUS[known.code] as ContentfulStatusCode, {
      ...known.headers,
    });
  };
}

/** A line for a fault of ours, or of what the service stands on; none for a refusal. */
export function logFault(log: Logger, known: ApiError, { requestId, route }: Env['Variables']): void {
  if (known.code !== 'ERRO_INTERNO' && known.code !== 'INDISPONIVEL') return;
  // One line for all requests of an outage, now and then, with the server's own words.
  if (isUnavailable(known.cause)) return logUnavailable(log, known.cause, 'requests are answered 503');
  log.error({ requisicao_id: requestId, route, ...safeParts(known.cause) }, known.code);
}

export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  const isPassing =
    isUnavailable(error) ||
    error instanceof RegistryFailure ||
    error instanceof NotAsked ||
    isUnknownServer(error) ||
    error instanceof KeysUnavailable ||
    error instanceof VersionConflict;
  if (isPassing) return unavailable(error);
  return new ApiError('ERRO_INTERNO', 'erro interno', { cause: error });
}

/** An error's names, codes and frames, for the log. Messages quote values, which may be a tax id or a secret. */
function safeParts(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { error: typeof error };
  const { code, constraint_name: constraint } = error as { code?: unknown; constraint_name?: unknown };
  const frames = error.stack?.split('\n').filter((line) => /^\s+at /.test(line));
  return {
    error: error.name,
    ...(typeof code === 'string' && { code }),
    ...(typeof constraint === 'string' && { constraint }),
    ...(error.cause instanceof Error && { cause: error.cause.name }),
    // Its message names the call, the field and the rule, and quotes no value.
    ...(error instanceof RegistryFailure && { reason: error.message }),
    stack: frames?.slice(0, 12).map((line) => line.trim()),
  };
}
