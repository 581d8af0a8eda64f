/**
 * What a use case answers: `{ ok }` with what was asked for, or `{ refused }` with the reason. Reads answer null for what is
 * not there. A transaction whose work ends refused is rolled back (db/transaction.ts), so a refusal leaves nothing behind.
 *
 * The union is closed. What each refusal is on the wire (status, `codigo`, text, details, headers) is one table,
 * http/refusals.ts; a use case names the kinds that it may answer, and a route may only pass on those whose code its
 * operation declares.
 */
import type { ErrorDetail } from './errors.ts';
import type { DELIVERY_STATUSES, LoanStatus } from './statuses.ts';

type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

export type Refusal =
  /** There is none of that id, or it is another partner's: both look alike. */
  | { readonly kind: 'notFound' }
  /** Nothing is kept under the CPF. */
  | { readonly kind: 'unknownWorker' }
  /** No key is configured under which workers are found. */
  | { readonly kind: 'noWorkerKey' }
  | { readonly kind: 'loanOpen'; readonly loanId: string; readonly status: LoanStatus }
  /** The law has the data of the worker's loans kept; the first day on which they may be erased. */
  | { readonly kind: 'legalPeriod'; readonly until: string }
  /** The data of the event were erased: there is nothing to be sent any more. */
  | { readonly kind: 'erased' }
  /** The loan's state does not allow the command. `what` cannot be done, said in Portuguese; `why` adds to the status. */
  | { readonly kind: 'loanState'; readonly what: string; readonly status: LoanStatus; readonly why: string | null }
  /** The state would allow it, but what was sent does not fit the loan. */
  | { readonly kind: 'misfit'; readonly what: string; readonly details: readonly ErrorDetail[] }
  /** There is no partner of the id that the loan core names. */
  | { readonly kind: 'unknownPartner' }
  /** No margin query of this partner, worker and employer has the id that was named. */
  | { readonly kind: 'unknownMarginQuery' }
  /** No registry is configured. */
  | { readonly kind: 'noRegistry' }
  /** The registry refused to answer a margin query; `error` is its reason. */
  | { readonly kind: 'marginRefused'; readonly error: string }
  /** The registry could not be asked, or gave no usable answer. */
  | { readonly kind: 'marginFailed'; readonly error: string }
  /** `month`, `YYYY-MM`, is not over in São Paulo. */
  | { readonly kind: 'monthNotOver'; readonly month: string }
  /** Rows of `day` are in the archive of `month` alone. */
  | { readonly kind: 'monthRemoved'; readonly month: string; readonly day: string }
  /** The Idempotency-Key belongs to a request with another body. */
  | { readonly kind: 'keyDiverges' }
  /** A request with this Idempotency-Key is still under way. */
  | { readonly kind: 'keyInProgress' }
  /** The partner has as many active webhooks as it may. */
  | { readonly kind: 'webhookLimit' }
  /** It would be sent, and an inactive webhook is not sent anything. */
  | { readonly kind: 'webhookInactive' }
  /** An operator has muted the webhook already. */
  | { readonly kind: 'webhookMuted' }
  /** A test would wait until an operator unmutes the webhook. */
  | { readonly kind: 'testOfMuted' }
  | { readonly kind: 'webhookNotMuted' }
  /** The delivery's POST may be arriving now. */
  | { readonly kind: 'deliveryInFlight' }
  /** The delivery has ended as `status`. */
  | { readonly kind: 'deliveryOver'; readonly status: DeliveryStatus }
  /** An operator has let the partner go already. */
  | { readonly kind: 'partnerInactive' }
  | { readonly kind: 'partnerActive' }
  /** The webhook is active again, but time ran out before all of its suspended deliveries were resumed. */
  | { readonly kind: 'stillSuspended' }
  /** The time from which a new secret would sign has passed, or is too far ahead. */
  | { readonly kind: 'signingTimeOutOfRange' }
  /** Another new secret waits for its time already. */
  | { readonly kind: 'newSecretWaits'; readonly until: Date }
  /** The secret before the last rotation still signs. */
  | { readonly kind: 'previousSecretSigns'; readonly until: Date }
  /** Until a new secret begins to sign, the one before it is the only one. */
  | { readonly kind: 'previousSecretSignsAlone'; readonly until: Date }
  | { readonly kind: 'noNewSecret' }
  /** The new secret signs already, so it cannot be dropped. */
  | { readonly kind: 'newSecretSigns' }
  /** The cursor in `field` was not written for this list. */
  | { readonly kind: 'foreignCursor'; readonly field: string }
  /** No mail server is configured. */
  | { readonly kind: 'noMail' }
  /** The log no longer has the cursor's event; `goOn` is the cursor to continue with. */
  | { readonly kind: 'cursorAhead'; readonly goOn: string }
  /** The export that `corte` names has not ended here: transactions below it are still open. */
  | { readonly kind: 'cutNotSettled' }
  /** Another check of the log is under way in this process. */
  | { readonly kind: 'verifying' }
  /** The log has more rows than a request waits for. */
  | { readonly kind: 'tooManyToVerify' };

export type RefusalKind = Refusal['kind'];
/** By kind, so that the compiler sees a refusal of few kinds as one of more. */
type RefusalTable = { readonly [R in Refusal as R['kind']]: R };
export type RefusalOf<K extends RefusalKind> = RefusalTable[K];

export interface Refused<out K extends RefusalKind = RefusalKind> {
  readonly refused: RefusalOf<K>;
}

/** `K` names the kinds of refusal that may come. */
export type Result<T, K extends RefusalKind = RefusalKind> = { readonly ok: T } | Refused<K>;

export const NO_REGISTRY: Refused<'noRegistry'> = { refused: { kind: 'noRegistry' } };
export const NOT_FOUND: Refused<'notFound'> = { refused: { kind: 'notFound' } };
