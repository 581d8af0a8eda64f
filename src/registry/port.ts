/**
 * The employment-data registry, as the service needs it. One method for each kind of question; each says what makes it
 * idempotent. An answer, also a refusal, is a value; a call that throws got no answer (out of reach, silent past the
 * deadline, a fault over there) and may be asked again.
 */

/** A loan as the registry records it: money in integer centavos, tax ids without punctuation. */
export interface RegistrationRequest {
  /** Our reference (`averbacao_id`): the registry gives the same answer every time it is asked with the same one. */
  readonly registrationId: string;
  readonly loanId: string;
  readonly number: string;
  readonly workerCpf: string;
  readonly workerEnrollment: string;
  readonly employerCnpj: string;
  readonly releasedCentavos: number;
  readonly installments: number;
  readonly installmentCentavos: number;
}

/** `error` is shown to the partner. */
export type RegistrationAnswer =
  | { readonly outcome: 'concluded'; readonly protocol: string }
  | { readonly outcome: 'failed'; readonly error: string };

/** Records loans against a worker's payroll. */
export interface RegistrationRegistry {
  /** Asks for one registration; gives up when `signal` aborts. */
  register(request: RegistrationRequest, signal: AbortSignal): Promise<RegistrationAnswer>;
}
