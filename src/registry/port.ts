/**
 * The port to the employment-data registry: one method for each kind of question, whose comment says what makes it idempotent.
 * An answer, also a refusal, is a value. A call that throws got no answer (out of reach, silent past the deadline, a fault of
 * the registry) and may be made again. A call rejects soon after its `signal` aborts, and makes no request when the signal has
 * aborted already. Every adapter passes test/registry/registry-contract.ts.
 */

/** A loan as the registry records it: money in integer centavos, tax ids without punctuation. */
export interface RegistrationRequest {
  /** Our reference (`averbacao_id`): asked again with the same reference, the registry gives the same answer. */
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

/** One margin query: tax ids without punctuation. */
export interface MarginQuestion {
  /** Our reference (`consulta_margem_id`), for the registry's own records. It does not make the query idempotent. */
  readonly queryId: string;
  /** The partner that the worker authorised. */
  readonly partnerId: string;
  readonly workerCpf: string;
  readonly employerCnpj: string;
}

/**
 * Money in integer centavos. The margin is negative when more is pledged than allowed; earnings never are. `refused`: the
 * registry refused for a reason of business (`negocial`). `unavailable`: the registry answered that it cannot answer now
 * (`upstream`; so is a call that throws). `error` is shown to the partner.
 */
export type MarginAnswer =
  | { readonly outcome: 'answered'; readonly earningsCentavos: number; readonly marginCentavos: number }
  | { readonly outcome: 'refused'; readonly error: string }
  | { readonly outcome: 'unavailable'; readonly error: string };

/** Answers how much of a worker's pay can still be pledged. */
export interface MarginRegistry {
  /** Asks once; the registry may charge for each call. Gives up when `signal` aborts. */
  queryMargin(question: MarginQuestion, signal: AbortSignal): Promise<MarginAnswer>;
}
