import type { ErrorCode, ErrorDetail } from '../contract/errors.ts';
import { type Refusal, sayRefusal } from '../contract/refusals.ts';

export interface ErrorExtras {
  readonly details?: readonly ErrorDetail[];
  readonly headers?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
}

/** A refusal with its error code. `message` is Portuguese and goes to the partner. */
export class ApiError extends Error {
  override name = 'ApiError';
  readonly code: ErrorCode;
  readonly details: readonly ErrorDetail[];
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ErrorCode, message: string, { details = [], headers = {}, cause }: ErrorExtras = {}) {
    super(message, { cause });
    this.code = code;
    this.details = details;
    this.headers = headers;
  }
}

export function refusalError(refusal: Refusal): ApiError {
  const { code, text, ...more } = sayRefusal(refusal);
  return new ApiError(code, text, more);
}

/** 404 for an unknown or malformed id, and for what belongs to another partner: they must look alike. */
export function notFound(): ApiError {
  return new ApiError('NAO_ENCONTRADO', 'recurso não encontrado');
}

/** 503: something that the service stands on is out of reach. */
export function unavailable(cause: unknown): ApiError {
  const headers = { 'Retry-After': '5' };
  return new ApiError('INDISPONIVEL', 'serviço temporariamente indisponível; tente de novo', { headers, cause });
}
