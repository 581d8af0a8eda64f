/**
 * The slots of one poller: what it has in flight, by partner and by claim.
 * Invariant: a taken slot is freed exactly once, by the record or the release of its delivery. Slots are freed after the commit, so nothing
 * that a claim writes depends on these counts.
 * Why by partner: a POST to a hanging receiver keeps its slot for 30 s, so slots for others must be free beforehand. An eighth of the slots
 * is reserved for partners that hold few. Of the rest, a partner may hold 16 slots for each one that stays free; a partner at that share
 * gets nothing in a poll. One partner alone reaches 82 %; eight that all want more reach a ninth each.
 * Alternatives: a fixed share per partner leaves slots unused; an equal share of those waiting now leaves nothing for the next one. The
 * lane's window bounds a single webhook's unanswered attempts (lanes/kept-lanes.ts).
 */

export interface Flight {
  readonly claim: string;
  readonly partnerId: string;
}

/** How much each partner may still take. */
export interface Shares {
  readonly reserve: number;
  /** Partners that hold many slots, with their number. */
  readonly holders: ReadonlyMap<string, number>;
  /** Those at their share. */
  readonly atShare: readonly string[];
}

/** Partners below this are left out, which keeps the lists short. */
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

  /** Takes slots for a claim of `atMs`; each claim is taken once. */
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
    // Computed as if one slot were already taken.
    const share = Math.max(MANY, SHARE_A_FREE_SLOT * (this.free - 1 - reserve));
    return { reserve, holders, atShare: [...holders.keys()].filter((id) => (holders.get(id) ?? 0) >= share) };
  }

  /**
   * True when at least one slot is free, and `part` of those that no hanging POST holds. Without the first condition a poller whose slots
   * all hang would loop without a pause and block its event loop until the next sweep.
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
