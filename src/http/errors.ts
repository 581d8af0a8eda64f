/** The one place where a failure becomes an answer. */
import type { Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { ERROR_STATUS, type ErrorBody } from '../contract/errors.ts';
import { isStrangeServer } from '../db/known-server.ts';
import { isUnavailable } from '../db/unavailable.ts';
import { VersionConflict } from '../log/append.ts';
import type { Logger } from '../log-lines.ts';
import { ApiError, unavailable } from './api-error.ts';
import type { Env } from './deps.ts';
import { KeysUnavailable } from './keys.ts';

/** The body of an error answer. */
export function errorBody(error: ApiError, requestId: string): ErrorBody {
  return {
    codigo: error.code,
    mensagem: error.message,
    ...(error.details.length > 0 && { detalhes: [...error.details] }),
    requisicao_id: requestId,
  };
}

/** Maps whatever a route threw; a fault of ours is logged and shows nothing. */
export function answerError(log: Logger) {
  return (error: unknown, c: Context<Env>): Response => {
    const known = toApiError(error);
    if (known.code === 'ERRO_INTERNO' || known.code === 'INDISPONIVEL') {
      log.error({ requisicao_id: c.var.requestId, route: c.var.route, ...safeParts(known.cause) }, known.code);
    }
    return c.json(errorBody(known, c.var.requestId), ERROR_STATUS[known.code] as ContentfulStatusCode, {
      ...known.headers,
    });
  };
}

function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  const isPassing =
    isUnavailable(error) ||
    isStrangeServer(error) ||
    error instanceof KeysUnavailable ||
    error instanceof VersionConflict;
  if (isPassing) return unavailable(error);
  return new ApiError('ERRO_INTERNO', 'erro interno', { cause: error });
}

/**
 * What of an error may be logged: names, codes and frames. Its message is left out, because messages quote values
 * (a failing row, an unparsable text) and values may be a tax id or a secret.
 */
function safeParts(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { error: typeof error };
  const { code, constraint_name: constraint } = error as { code?: unknown; constraint_name?: unknown };
  const frames = error.stack?.split('\n').filter((line) => /^\s+at /.test(line));
  return {
    error: error.name,
    ...(typeof code === 'string' && { code }),
    ...(typeof constraint === 'string' && { constraint }),
    ...(error.cause instanceof Error && { cause: error.cause.name }),
    stack: frames?.slice(0, 12).map((line) => line.trim()),
  };
}
