/** The commands to a loan, and their possible answers. */
import type { EventData, Fact } from '../contract/events.ts';
import type { Refused, Result } from '../contract/refusals.ts';
import type { DocumentType, IssuanceMode } from '../contract/statuses.ts';
import type { LoanState } from './state.ts';

/** One archived piece: its bytes stay outside the log, which keeps their lower-case hex SHA-256. */
export interface DocumentPiece {
  readonly type: DocumentType;
  readonly sha256: string;
}

/** Dates are `YYYY-MM-DD`, money is integer centavos; the caller makes ids and numbers. */
export type Command =
  | { readonly type: 'issue'; readonly issuance: IssuanceMode; readonly contract: EventData<'emprestimo.contratado'> }
  | { readonly type: 'concludeIssuance'; readonly number: string }
  | { readonly type: 'failIssuance'; readonly reason: string }
  | { readonly type: 'concludeSigning' }
  /** `POST …/documentos`: the whole package (grouped) or the CCB ahead (deferred). */
  | { readonly type: 'deliverPackage'; readonly documents: readonly DocumentPiece[] }
  /** `POST …/documentos-dataprev`: all pieces still missing. */
  | { readonly type: 'deliverMissingDocuments'; readonly documents: readonly DocumentPiece[] }
  /** `POST …/documentos/{tipo}`. */
  | { readonly type: 'deliverDocument'; readonly document: DocumentPiece }
  | { readonly type: 'requestRegistration'; readonly registrationId: string }
  | {
      readonly type: 'concludeRegistration';
      readonly registrationId: string;
      readonly protocol: string;
      /** The last day for the documents, if this registration opens the obligation. */
      readonly documentsDeadline: string;
    }
  | { readonly type: 'failRegistration'; readonly registrationId: string; readonly error: string }
  /** `today` is São Paulo's day. `since`: the first day that `on` may be, if not that of the loan's creation. */
  | {
      readonly type: 'settleDisbursement';
      readonly on: string;
      readonly today: string;
      readonly since?: string;
    }
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
 * `loanState`: the loan's state forbids the command. `mismatch`: the state allows it, but its content does not fit. `notFound`: there is no
 * loan.
 */
export type LoanRefusal = 'loanState' | 'mismatch' | 'notFound';

export type Decision = Result<readonly Fact[], LoanRefusal>;

/** `what` names, in Portuguese, the refused step; `why` adds to the status. */
export function refuse({ status }: LoanState, what: string, why: string | null = null): Refused<'loanState'> {
  return { refused: { kind: 'loanState', what, status, why } };
}
