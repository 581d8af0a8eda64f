/**
 * The port to the employment-data registry; each method's comment says what makes it idempotent. An answer, also a refusal, is a value. A
 * call that throws got no answer and may be repeated. A call rejects soon after its `signal` aborts, and makes no request if it was aborted
 * before. test/registry/simulated.db.test.ts holds the HTTP adapter (adapter.ts) to this.
 */
import type { LoanState } from '../loan/state.ts';
import type { BondRegistry } from './bonds-port.ts';

/** The registry's answer was missing or wrong. The message names call and rule, never a value. */
export class RegistryFailure extends Error {
  override name = 'RegistryFailure';
  /** For the partner: the registry's own words, if any. */
  readonly reported: string;

  constructor(message: string, options: ErrorOptions & { readonly reported?: string } = {}) {
    super(message, options);
    this.reported = options.reported ?? 'o registry não respondeu';
  }
}

/** The registry was not asked: every slot was taken (`busy`), or the breaker is open (`open`). */
export class NotAsked extends Error {
  override name = 'NotAsked';
  readonly why: 'busy' | 'open';
  readonly reported = 'o registry não foi consultado: espera a vez';

  constructor(why: NotAsked['why']) {
    super(
      why === 'busy'
        ? 'every call to the registry was taken'
        : 'the registry has failed, and is left alone for a while',
    );
    this.why = why;
  }
}

/** Id of the causing request, for the registry's records; null without one. */
interface Asked {
  readonly requestId: string | null;
}

export interface RegistrationRequest extends Asked {
  /** Our reference (`averbacao_id`), the idempotency key. */
  readonly registrationId: string;
  readonly loan: LoanState;
}

/** `error` is shown to the partner. */
export type RegistrationAnswer =
  | { readonly outcome: 'concluded'; readonly protocol: string }
  | { readonly outcome: 'failed'; readonly error: string };

/** The registry works on it; look it up after `askAgainMs`. */
export interface Pending {
  readonly outcome: 'pending';
  readonly askAgainMs: number;
}

export interface RegistrationRegistry {
  register(request: RegistrationRequest, signal: AbortSignal): Promise<RegistrationAnswer | Pending>;
  /** The state of a pending registration; null: never asked, so ask again. */
  lookUp(
    request: Pick<RegistrationRequest, 'registrationId' | 'requestId'>,
    signal: AbortSignal,
  ): Promise<RegistrationAnswer | Pending | null>;
}

/** Tax ids without punctuation. */
export interface MarginQuestion extends Asked {
  /** Our reference (`consulta_margem_id`), for the registry's records. It does not make the query idempotent. */
  readonly queryId: string;
  readonly partnerId: string;
  readonly workerCpf: string;
  readonly employerCnpj: string;
}

/**
 * Money in integer centavos. The margin is negative when more is pledged than allowed; earnings never are. `refused`: a business refusal
 * (`negocial`); `error` is shown to the partner. A call that throws is `upstream`.
 */
export type MarginAnswer =
  | { readonly outcome: 'answered'; readonly earningsCentavos: number; readonly marginCentavos: number }
  | { readonly outcome: 'refused'; readonly error: string };

export interface MarginRegistry {
  /** How much of a worker's pay can still be pledged; the registry may charge for each call. */
  queryMargin(question: MarginQuestion, signal: AbortSignal): Promise<MarginAnswer>;
}

export type EmploymentRegistry = RegistrationRegistry & MarginRegistry & BondRegistry;
