/**
 * The port to the employment-data registry for workers' bonds (vínculos).
 *
 * A call asks for the records that the registry learned in a window of time, [from, until). Windows overlap, and two
 * machines may ask at once. So each record carries a reference that is the same in every answer and belongs to one loan: a
 * worker with two loans is two records. The caller keeps the first record of a reference; a correction is a record with a
 * reference of its own.
 *
 * Records come in pages, so a night with many of them is neither one answer nor one list in memory. A call that throws got
 * no answer, or part of it. Asking for the same window again is always allowed.
 */
import type { EventData } from '../contract/events.ts';

export interface BondQuery {
  /** Only records of this partner's loans; null for all partners. */
  readonly partnerId: string | null;
  /** The window's beginning, by the database's clock. */
  readonly from: Date;
  /** The window's end, which is not part of it. */
  readonly until: Date;
  /** Told of each record that does not fit, in place of the record: its field and the rule. */
  readonly onMisshapen: (rule: string) => void;
}

interface BondRecord {
  /** Stable: see above. */
  readonly reference: string;
  readonly partnerId: string;
  /** The id under which the loan was registered; the service closes only loans of its own CCBs. */
  readonly loanId: string;
}

/** The registry's record of an end of bond; the date is `YYYY-MM-DD`. */
export interface EndOfBond {
  readonly on: string;
  readonly reason: EventData<'trabalhador.desligado'>['motivo_desligamento'];
}

/** The registry's record of a rehire; the margin at the new employer is in integer centavos and may be below zero. */
export interface Rehire {
  readonly on: string;
  readonly employer: EventData<'trabalhador.vinculo_novo'>['novo_empregador'];
  readonly availableMarginCentavos: number;
}

export type EndedBond = BondRecord & { readonly data: EndOfBond };
export type NewBond = BondRecord & { readonly data: Rehire };

/** Both calls give up when `signal` aborts. */
export interface BondRegistry {
  /** Ends of bonds that the registry learned in the window, in any order. */
  endedBonds(query: BondQuery, signal: AbortSignal): AsyncIterable<readonly EndedBond[]>;
  /** New bonds that the registry learned in the window, in any order. */
  newBonds(query: BondQuery, signal: AbortSignal): AsyncIterable<readonly NewBond[]>;
}
