/**
 * What a poller knows of the loans of a lane that gets each loan in order. Pure.
 *
 * Invariant: a delivery is taken only while no other of its loan is in flight and no earlier one is pending (take_loans.sql judges that).
 * One that was passed over waits for such another. At the end of each flight the loan is asked for its next delivery; whoever else ends a
 * delivery changes the lane, which is then read from its start. So what was passed over waits no longer than for what it has to.
 * Crash: it is gone; whoever takes the lane reads it from its start, and judges anew.
 * Measured alternative: deliveries that wait were marked in the database, and a trigger woke them; it wrote each of them twice.
 */

/** A part of a turn: reads a lane on behind a place, or (`loan`) takes the next delivery of a loan. */
export interface LoanAsk {
  /** From 1. */
  readonly place: number;
  readonly hook: string;
  readonly loan: string | null;
  readonly from_due: string;
  readonly from_id: string;
  readonly to_due: string;
  readonly room: number;
  /** Suspended deliveries hold back later ones. */
  readonly is_resuming: boolean;
}

/** What a turn asks of lanes in order, as take_loans has it. */
export interface LoanAsks {
  readonly asks: LoanAsk[];
  readonly busy: { readonly hook: string; readonly loan: string }[];
  readonly flying: string[];
}

export class KeptLoans {
  /** By loan: the last end of a flight of it, until it was asked for its next delivery. */
  readonly #ended = new Map<string, number>();
  #ends = 0;
  /** Something was passed over since the lane was read from its start. */
  isHolding = false;

  get hasEnded(): boolean {
    return this.#ended.size > 0;
  }

  end(loan: string): void {
    this.#ended.set(loan, (this.#ends += 1));
  }

  /** The loans to ask for their next deliveries, at most so many. */
  next(most: number): string[] {
    return [...this.#ended.keys()].slice(0, Math.max(most, 0));
  }

  /** The ends so far: what ends later was not seen by a turn that is planned now. */
  get ends(): number {
    return this.#ends;
  }

  /** A turn that was planned at so many `ends` has asked for the loan's next delivery. */
  asked(loan: string, ends: number): void {
    if ((this.#ended.get(loan) ?? Infinity) <= ends) this.#ended.delete(loan);
  }
}
