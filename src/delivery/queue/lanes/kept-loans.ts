/**
 * What a poller knows of the loans of a lane that delivers each loan in order. Pure.
 * Invariant: a delivery is taken only while no other of its loan is in flight and no earlier one is pending (poll_loans.sql decides). When
 * a flight ends, its loan's next delivery is asked for; so a delivery that was passed over waits no longer than it must. Any other end of
 * a delivery changes the lane, which is then read from its start.
 * Crash: this knowledge is gone; the next keeper reads the lane from its start.
 * Measured alternative: marking waiting deliveries in the database, with a trigger to wake them, wrote each of them twice.
 */

/** Reads a lane on behind a place, or (`loan`) takes the next delivery of a loan. */
export interface LoanAsk {
  /** From 1. */
  readonly place: number;
  readonly hook: string;
  readonly loan: string | null;
  readonly from_due: string;
  readonly from_id: string;
  readonly to_due: string;
  readonly room: number;
  readonly is_resuming: boolean;
}

export interface LoanAsks {
  readonly asks: LoanAsk[];
  readonly busy: { readonly hook: string; readonly loan: string }[];
  readonly flying: string[];
}

export class KeptLoans {
  /** By loan: its last ended flight, until the loan was asked for its next delivery. */
  readonly #ended = new Map<string, number>();
  #ends = 0;
  /** Something was passed over since the lane was last read from its start. */
  isHolding = false;

  get hasEnded(): boolean {
    return this.#ended.size > 0;
  }

  end(loan: string): void {
    this.#ended.set(loan, (this.#ends += 1));
  }

  /** The loans to ask for their next deliveries, `most` at most. */
  next(most: number): string[] {
    return [...this.#ended.keys()].slice(0, Math.max(most, 0));
  }

  /** Flights ended so far. A poll planned now does not see later ends. */
  get ends(): number {
    return this.#ends;
  }

  /** A poll planned at `ends` has asked for the loan's next delivery. */
  asked(loan: string, ends: number): void {
    if ((this.#ended.get(loan) ?? Infinity) <= ends) this.#ended.delete(loan);
  }
}
