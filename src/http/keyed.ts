/** How the end of a keyed request (Idempotency-Key) is answered. */
import type { KeyTaken } from '../core/idempotency.ts';
import { ApiError } from './api-error.ts';

/** The refusal for a key that belongs to another request, or is still being processed. */
export function keyTaken(reason: KeyTaken): ApiError {
  if (reason === 'divergent') {
    return new ApiError('IDEMPOTENCIA_DIVERGENTE', 'esta Idempotency-Key já foi usada com outro corpo');
  }
  return new ApiError('IDEMPOTENCIA_EM_ANDAMENTO', 'a requisição com esta Idempotency-Key ainda está em andamento', {
    headers: { 'Retry-After': '5' },
  });
}
