/**
 * The employment-data registry, as the service needs it. One method for each kind of question; each says what makes it
 * idempotent. An answer, also a refusal, is a value; a call that throws got no answer (out of reach, silent past the
 * deadline, a fault over there) and may be asked again. A call rejects soon after its `signal` aborts, and makes no
 * request when it has aborted already. Every adapter passes test/registry/registry-contract.ts.
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

/** One margin query: tax ids without punctuation. */
export interface MarginQuestion {
  /** Our reference (`consulta_margem_id`), for the registry's own records. It makes nothing idempotent. */
  readonly queryId: string;
  /** On whose behalf: the worker authorised this partner. */
  readonly partnerId: string;
  readonly workerCpf: string;
  readonly employerCnpj: string;
}

/**
 * Money in integer centavos; the margin is negative when more is pledged than may be, earnings never. `refused`: the registry said no for a reason of business (`negocial`).
 * `unavailable`: it said itself that it cannot answer now (`upstream`, as is a call that throws). `error` is shown to
 * the partner.
 */
export type MarginAnswer =
  | { readonly outcome: 'answered'; readonly earningsCentavos: number; readonly marginCentavos: number }
  | { readonly outcome: 'refused'; readonly error: string }
  | { readonly outcome: 'unavailable'; readonly error: string };

/** Tells what of a worker's pay can still be pledged. */
export interface MarginRegistry {
  /** Asks once, which the registry may charge each time; gives up when `signal` aborts. */
  queryMargin(question: MarginQuestion, signal: AbortSignal): Promise<MarginAnswer>;
}
