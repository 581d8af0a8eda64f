/** What can be asked of a loan, and what the answer may be. */
import type { ErrorDetail } from '../contract/errors.ts';
import type { EventData, Fact } from '../contract/events.ts';
import type { DocumentType, IssuanceMode } from '../contract/statuses.ts';
import type { LoanState } from './state.ts';

/** One archived piece: its bytes stay outside the log, which keeps their SHA-256 in lower-case hex. */
export interface DocumentPiece {
  readonly type: DocumentType;
  readonly sha256: string;
}

/** Dates are `YYYY-MM-DD`, money is integer centavos; ids and numbers were made by the caller. */
export type Command =
  | { readonly type: 'issue'; readonly issuance: IssuanceMode; readonly contract: EventData<'emprestimo.contratado'> }
  | { readonly type: 'concludeIssuance'; readonly number: string }
  | { readonly type: 'failIssuance'; readonly reason: string }
  | { readonly type: 'concludeSigning' }
  /** `POST …/documentos`: the whole package (grouped) or the CCB ahead (deferred). */
  | { readonly type: 'deliverPackage'; readonly documents: readonly DocumentPiece[] }
  /** `POST …/documentos-dataprev`: every piece that is still missing. */
  | { readonly type: 'deliverMissingDocuments'; readonly documents: readonly DocumentPiece[] }
  /** `POST …/documentos/{tipo}`. */
  | { readonly type: 'deliverDocument'; readonly document: DocumentPiece }
  | { readonly type: 'requestRegistration'; readonly registrationId: string }
  | {
      readonly type: 'concludeRegistration';
      readonly registrationId: string;
      readonly protocol: string;
      /** The last day for the documents, should this registration open the obligation. */
      readonly documentsDeadline: string;
    }
  | { readonly type: 'failRegistration'; readonly registrationId: string; readonly error: string }
  /** `today` is the day in São Paulo. */
  | { readonly type: 'settleDisbursement'; readonly on: string; readonly today: string }
  | { readonly type: 'failDisbursement'; readonly reason: string }
  | {
      readonly type: 'endBond';
      readonly on: string;
      readonly reason: EventData<'trabalhador.desligado'>['motivo_desligamento'];
    }
  | {
      readonly type: 'recordNewBond';
      readonly employer: EventData<'trabalhador.vinculo_novo'>['novo_empregador'];
      readonly on: string;
      readonly availableMarginCentavos: number;
      readonly outstandingCentavos: number;
    };

export type CommandOf<T extends Command['type']> = Extract<Command, { type: T }>;

/**
 * `rejected`: the loan's state does not allow the command (409 TRANSICAO_INVALIDA); the message names the state.
 * `invalid`: the state would allow it, but what was sent does not fit (400 ERRO_VALIDACAO).
 */
export type Rejection =
  | { readonly rejected: string }
  | { readonly invalid: string; readonly details: readonly ErrorDetail[] };

export type Decision = { readonly facts: readonly Fact[] } | Rejection;

/** Refuses because of the loan's state: `what` says in Portuguese what cannot be done, `why` adds to the status. */
export function refuse(state: LoanState, what: string, why?: string): Rejection {
  return { rejected: `${what}: o status do empréstimo é ${state.status}${why === undefined ? '' : `, ${why}`}` };
}
