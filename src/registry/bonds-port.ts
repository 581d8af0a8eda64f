/**
 * The port to the employment-data registry for workers' bonds (vínculos).
 * A call asks for the records that the registry learned in the window [from, until). Windows overlap, and two machines may ask at once. So
 * each record carries a reference that is the same in every answer and belongs to one loan; a worker with two loans is two records. The
 * caller keeps the first record of a reference; a correction has its own reference.
 * Records come in pages, which bounds memory. A call that throws got no answer or part of it; asking for the same window again is always
 * allowed.
 */
import type { EventData } from '../contract/events.ts';

export interface BondQuery {
  /** Null for all partners. */
  readonly partnerId: string | null;
  /** By the database's clock. */
  readonly from: Date;
  /** Exclusive. */
  readonly until: Date;
  /** Called for each malformed record, in place of it: its field and the rule. */
  readonly onMisshapen: (rule: string) => void;
}

interface BondRecord {
  /** Stable: see above. */
  readonly reference: string;
  readonly partnerId: string;
  /** The id under which the loan was registered; the service closes only loans of its own CCBs. */
  readonly loanId: string;
}

/** The date is `YYYY-MM-DD`. */
export interface EndOfBond {
  readonly on: string;
  readonly reason: EventData<'trabalhador.desligado'>['motivo_desligamento'];
}

/** The margin at the new employer in integer centavos; may be negative. */
export interface Rehire {
  readonly on: string;
  readonly employer: EventData<'trabalhador.vinculo_novo'>['novo_empregador'];
  readonly availableMarginCentavos: number;
}

export type EndedBond = BondRecord & { readonly data: EndOfBond };
export type NewBond = BondRecord & { readonly data: Rehire };

/** Both calls give up when `signal` aborts; records come in any order. */
export interface BondRegistry {
  endedBonds(query: BondQuery, signal: AbortSignal): AsyncIterable<readonly EndedBond[]>;
  newBonds(query: BondQuery, signal: AbortSignal): AsyncIterable<readonly NewBond[]>;
}
