/**
 * The slots of one poller: what it has in flight, by partner and by claim.
 *
 * Invariant: a taken slot is freed exactly once, by the record or the release of its delivery. So the counts are those
 * of the deliveries in flight, and a partner with nothing in flight is not kept.
 * Why by partner: a POST to a receiver that hangs keeps its slot for 30 s and cannot be called back, so slots for
 * others must be free before they come. A turn takes nothing of partners that are sated: they hold their share. An eighth
 * of the slots is reserved for the others. Of the rest, a partner may hold 16 slots for each one
 * that stays free.
 * These counts lag behind the database: a slot is freed after its record has committed. So nothing that a claim writes
 * depends on them, and a poller with sated partners looks often (rhythm.ts).
 * One partner alone reaches 82 %; eight partners that all want more reach a ninth each. Alternatives: a fixed share for
 * each partner leaves slots unused; an equal share for each partner that waits now leaves nothing for the next one.
 * Unanswered attempts of one webhook are bounded by its lane's window (lanes/kept-lanes.ts).
 */

/** One delivery in flight. */
export interface Flight {
  readonly claim: string;
  readonly partnerId: string;
}

/** Tells a claim how much each partner may still take. */
export interface Shares {
  /** How many slots are reserved for partners that hold few. */
  readonly reserve: number;
  /** The partners that hold many, and how many each holds. */
  readonly holders: ReadonlyMap<string, number>;
  /** Those of them that may take none now. */
  readonly sated: readonly string[];
}

/** Partners that hold fewer are left out, which keeps the lists short. */
const MANY = 8;
const SHARE_A_FREE_SLOT = 16;
const RESERVE = 1 / 8;
/** A delivery in flight for longer is unlikely to end soon. */
const LINGERING_MS = 1_000;

export class Slots {
  readonly #capacity: number;
  #held = 0;
  readonly #byPartner = new Map<string, number>();
  /** Oldest first. */
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

  heldBy(partnerId: string): number {
    return this.#byPartner.get(partnerId) ?? 0;
  }

  /** Takes slots for what was claimed at `atMs`; no claim comes twice. */
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
    const reserve = Math.floor(this.#capacity * RESERVE);
    // As of the first slot that the claim takes.
    const share = Math.max(MANY, SHARE_A_FREE_SLOT * (this.free - 1 - reserve));
    return { reserve, holders, sated: [...holders.keys()].filter((id) => (holders.get(id) ?? 0) >= share) };
  }

  /**
   * True when at least one slot is free, and `part` of the slots that are not held by hanging POSTs. Without the one, a poller
   * whose slots all hang would go round without a pause, and its event loop would stand still until the next sweep.
   */
  hasFree(part: number, nowMs: number): boolean {
    return this.free > 0 && this.free >= (this.#capacity - this.#lingering(nowMs)) * part;
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
