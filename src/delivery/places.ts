/**
 * The places of one poller: what it has in flight, by partner and by claim.
 *
 * Invariant: a place that is taken is let go exactly once, by its record or its release; so the counts are those of what is
 * in flight, and nothing is kept of partners that have nothing there.
 * Why by partner: a POST to a receiver that hangs keeps its place for 30 s and cannot be called back, so what others will
 * need must be free before they come. A claim is told who holds much (`claim_due`): an eighth of the places is for those
 * who hold fewer than 8, and of the rest a partner gets more as long as, for every 16 that it would hold, one stays free.
 * Alone it comes to four fifths of a poller's, eight that want all have a ninth each. A fixed part for each would leave the
 * rest of them unused, and a part for each that waits now nothing for who comes next.
 * It holds for one poller. What a webhook leaves unanswered is bounded over all of them, by its lane's window (arrivals.ts).
 */

/** One delivery in flight. */
export interface Flight {
  readonly claim: string;
  readonly partnerId: string;
}

/** What a claim has to know so that no partner takes more than its share of a poller's places. */
export interface Shares {
  /** So many places are kept for partners that hold few. */
  readonly reserve: number;
  /** The partners that do not, and how many each holds. */
  readonly holders: ReadonlyMap<string, number>;
}

/** `least_share` of `claim_due`; who holds fewer need not be told of, which keeps the lists short. */
const MANY = 8;
const RESERVE = 1 / 8;
/** What is in flight for longer is not likely to end in the next moment. */
const LINGERING_MS = 1_000;

export class Places {
  readonly #capacity: number;
  #held = 0;
  readonly #byPartner = new Map<string, number>();
  /** In the order of their times. */
  readonly #byClaim = new Map<string, { readonly atMs: number; left: number }>();

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get held(): number {
    return this.#held;
  }

  get free(): number {
    return this.#capacity - this.#held;
  }

  /** Takes places for what was claimed at `atMs`; no claim comes twice. */
  take(claim: string, taken: readonly Pick<Flight, 'partnerId'>[], atMs: number): void {
    this.#held += taken.length;
    this.#byClaim.set(claim, { atMs, left: taken.length });
    for (const { partnerId: id } of taken) this.#byPartner.set(id, (this.#byPartner.get(id) ?? 0) + 1);
  }

  letGo(flights: readonly Flight[]): void {
    this.#held -= flights.length;
    for (const { claim, partnerId } of flights) {
      const taken = this.#byClaim.get(claim);
      if (taken !== undefined && (taken.left -= 1) === 0) this.#byClaim.delete(claim);
      const held = (this.#byPartner.get(partnerId) ?? 0) - 1;
      if (held > 0) this.#byPartner.set(partnerId, held);
      else this.#byPartner.delete(partnerId);
    }
  }

  shares(): Shares {
    const holders = new Map([...this.#byPartner].filter(([, held]) => held >= MANY));
    return { reserve: Math.floor(this.#capacity * RESERVE), holders };
  }

  /** True when `part` of the places is free, of those that hanging POSTs leave. */
  hasFree(part: number, nowMs: number): boolean {
    return this.free >= (this.#capacity - this.#lingering(nowMs)) * part;
  }

  #lingering(nowMs: number): number {
    let count = 0;
    for (const { atMs, left } of this.#byClaim.values()) {
      if (nowMs - atMs < LINGERING_MS) break;
      count += left;
    }
    return count;
  }
}
