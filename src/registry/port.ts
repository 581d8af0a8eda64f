/**
 * The port to the employment-data registry: one method for each kind of question, whose comment says what makes it idempotent.
 * An answer, also a refusal, is a value. A call that throws got no answer (out of reach, silent past the deadline, a fault of
 * the registry) and may be made again. A call rejects soon after its `signal` aborts, and makes no request when the signal has
 * aborted already. Its one adapter speaks HTTP (adapter.ts); test/registry/registry-contract.ts holds it to this.
 */
import type { BondRegistry } from './bonds-port.ts';

/** The registry did not answer as it should. The message names the call and the rule; it quotes no value. */
export class RegistryFailure extends Error {
  override name = 'RegistryFailure';
  /** For the partner: the registry's own words, where it gave some. */
  readonly told: string;

  constructor(message: string, options: ErrorOptions & { readonly told?: string } = {}) {
    super(message, options);
    this.told = options.told ?? 'o registry não respondeu';
  }
}

/** The registry was not asked: every slot was taken (`busy`), or the breaker is open (`open`). */
export class NotAsked extends Error {
  override name = 'NotAsked';
  readonly why: 'busy' | 'open';
  /** For the partner. */
  readonly told = 'o registry não foi consultado: espera a vez';

  constructor(why: NotAsked['why']) {
    super(
      why === 'busy'
        ? 'every call to the registry was taken'
        : 'the registry has failed, and is left alone for a while',
    );
    this.why = why;
  }
}

/** The id of the request that caused the call, for the registry's own records; null when no request did. */
interface Asked {
  readonly requestId: string | null;
}

/** A loan as the registry records it: money in integer centavos, tax ids without punctuation. */
export interface RegistrationRequest extends Asked {
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

/** The registry has taken the registration and works on it; look it up after `askAgainMs`. */
export interface Pending {
  readonly outcome: 'pending';
  readonly askAgainMs: number;
}

/** Records loans against a worker's payroll. */
export interface RegistrationRegistry {
  /** Asks for one registration. */
  register(request: RegistrationRequest, signal: AbortSignal): Promise<RegistrationAnswer | Pending>;
  /** What has become of one that was pending; null: the registry was never asked for it, so ask again. */
  lookUp(
    request: Pick<RegistrationRequest, 'registrationId' | 'requestId'>,
    signal: AbortSignal,
  ): Promise<RegistrationAnswer | Pending | null>;
}

/** One margin query: tax ids without punctuation. */
export interface MarginQuestion extends Asked {
  /** Our reference (`consulta_margem_id`), for the registry's own records. It does not make the query idempotent. */
  readonly queryId: string;
  /** The partner that the worker authorised. */
  readonly partnerId: string;
  readonly workerCpf: string;
  readonly employerCnpj: string;
}

/**
 * Money in integer centavos. The margin is negative when more is pledged than allowed; earnings never are. `refused`: the
 * registry refused for a reason of business (`negocial`); `error` is shown to the partner. A call that throws is `upstream`.
 */
export type MarginAnswer =
  | { readonly outcome: 'answered'; readonly earningsCentavos: number; readonly marginCentavos: number }
  | { readonly outcome: 'refused'; readonly error: string };

/** Answers how much of a worker's pay can still be pledged. */
export interface MarginRegistry {
  /** Asks once; the registry may charge for each call. */
  queryMargin(question: MarginQuestion, signal: AbortSignal): Promise<MarginAnswer>;
}

export type EmploymentRegistry = RegistrationRegistry & MarginRegistry & BondRegistry;
