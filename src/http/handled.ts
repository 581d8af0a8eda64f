/** How the end of a loan's command is answered. */
import type { Handled } from '../core/handle-loan.ts';
import type { Rejection } from '../loan/command.ts';
import type { LoanState } from '../loan/state.ts';
import { ApiError, notFound } from './api-error.ts';

/** The loan after the command. Throws 404, 409 for a state that refuses, 400 for what does not fit the state. */
export function handledLoan(handled: Handled): LoanState {
  if ('ok' in handled) return handled.state;
  throw 'notFound' in handled ? notFound() : rejected(handled);
}

export function rejected(rejection: Rejection): ApiError {
  if ('rejected' in rejection) return new ApiError('TRANSICAO_INVALIDA', rejection.rejected);
  return new ApiError('ERRO_VALIDACAO', rejection.invalid, { details: rejection.details });
}
