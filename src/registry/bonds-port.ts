/**
 * What the employment-data registry tells about workers' bonds (vínculos).
 *
 * The registry is asked for what it came to know in a window of time, [from, until). Windows overlap and two machines
 * may ask at once, so a record must carry a reference that is the same every time it is told, and that belongs to one
 * loan alone: a worker with two loans is two records. Whoever asks keeps the first telling of a reference; a correction
 * is a record with a reference of its own.
 *
 * Records come in pages, so that a night with many of them is neither one answer nor one list in memory. A call that
 * throws got no answer, or not all of it; asking for the same window again is always allowed.
 */
import type { EventData } from '../contract/events.ts';

export interface BondQuery {
  /** Only what is about this partner's loans; null for everybody's. */
  readonly partnerId: string | null;
  /** The first instant at which the registry came to know a record, by the database's clock. */
  readonly from: Date;
  /** The first instant that is no longer asked for. */
  readonly until: Date;
}

interface BondRecord {
  /** Stable: see above. */
  readonly reference: string;
  readonly partnerId: string;
  /** The loan as it was registered with the registry; a loan of somebody else's CCB is not ours to close. */
  readonly loanId: string;
}

/** What the registry says of an end of bond; the date is `YYYY-MM-DD`. */
export interface EndOfBond {
  readonly on: string;
  readonly reason: EventData<'trabalhador.desligado'>['motivo_desligamento'];
}

/** What the registry says of a rehire; the margin is what the new employer's payroll leaves, in integer centavos, perhaps below zero. */
export interface Rehire {
  readonly on: string;
  readonly employer: EventData<'trabalhador.vinculo_novo'>['novo_empregador'];
  readonly availableMarginCentavos: number;
}

export type EndedBond = BondRecord & { readonly data: EndOfBond };
export type NewBond = BondRecord & { readonly data: Rehire };

/** Tells of bonds. Both calls give up when `signal` aborts. */
export interface BondRegistry {
  /** Ends of bonds that the registry came to know in the window, in any order. */
  endedBonds(query: BondQuery, signal: AbortSignal): AsyncIterable<readonly EndedBond[]>;
  /** New bonds that it came to know in the window, in any order. */
  newBonds(query: BondQuery, signal: AbortSignal): AsyncIterable<readonly NewBond[]>;
}
