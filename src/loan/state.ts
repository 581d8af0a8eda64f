import {
  DOCUMENT_TYPES,
  type DocumentMode,
  type DocumentType,
  type LoanStatus,
  type RegistrationStatus,
  type SigningMode,
} from '../contract/statuses.ts';

/** The latest registration (averbação). Instants are ISO 8601 strings. */
export interface RegistrationState {
  readonly id: string;
  readonly status: RegistrationStatus;
  readonly protocol: string | null;
  readonly error: string | null;
  readonly requestedAt: string;
  /** When the registry's answer was recorded, success or failure. */
  readonly endedAt: string | null;
}

/** The documents dimension (`entrega_docs_registry`); missing pieces follow from `receivedDocuments`. */
interface ObligationState {
  readonly situation: 'aguardando' | 'recebido';
  /** The last day, `YYYY-MM-DD`. */
  readonly deadline: string;
  readonly receivedAt: string | null;
}

/**
 * A loan folded from its stream, as plain JSON, stored as `loans.state`. Money is integer centavos, instants are ISO 8601 strings. SQL
 * reads `status`, `number` and `disbursedOn`.
 */
export interface LoanState {
  readonly id: string;
  readonly version: number;
  readonly status: LoanStatus;
  /** Provisional (`P-`) until an asynchronous issuance completes. */
  readonly number: string;
  readonly workerCpf: string;
  readonly workerName: string;
  readonly workerEnrollment: string;
  readonly employerCnpj: string;
  readonly signing: SigningMode;
  readonly documentMode: DocumentMode;
  readonly releasedCentavos: number;
  readonly installments: number;
  readonly installmentCentavos: number;
  readonly marginQueryId: string | null;
  readonly signed: boolean;
  readonly receivedDocuments: readonly DocumentType[];
  readonly registration: RegistrationState | null;
  /** The transfer may still settle or fail; an end of bond does not stop it. */
  readonly transferOpen: boolean;
  /** `YYYY-MM-DD`, once the transfer settled. */
  readonly disbursedOn: string | null;
  readonly obligation: ObligationState | null;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** External signing with deferred documents: only such a loan has the documents dimension. */
export function isDeferred(state: LoanState): boolean {
  return state.signing === 'externa' && state.documentMode === 'diferida';
}

/** Whether this registration is under way. */
export function isRegistering({ registration }: LoanState, id: string): boolean {
  return registration?.id === id && registration.status === 'processando';
}

/** In the contract's order. */
export function missingDocuments(state: LoanState): DocumentType[] {
  return DOCUMENT_TYPES.filter((type) => !state.receivedDocuments.includes(type));
}
