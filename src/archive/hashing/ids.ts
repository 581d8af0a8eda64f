/** Ids of 16 bytes by the order in which they were added: a map needs a text for each. */

const BYTES = 16;

export class Ids {
  count = 0;
  /** One behind the other. */
  bytes: Buffer = Buffer.allocUnsafeSlow(1_024 * BYTES);
  /** By their bits, 1 + the place of an id; at most half of them are taken. */
  #slots = new Int32Array(4_096);

  /** The place of the id that begins at `at`; -1 if it is none of these. */
  find(bytes: Buffer, at: number): number {
    return (this.#slots[this.#slotOf(bytes, at)] as number) - 1;
  }

  /** The same, and adds it; its place is then the count before. */
  add(bytes: Buffer, at: number): number {
    const slot = this.#slotOf(bytes, at);
    const known = this.#slots[slot] as number;
    if (known > 0) return known - 1;
    if ((this.count + 1) * BYTES > this.bytes.length) this.bytes = widened(this.bytes);
    bytes.copy(this.bytes, this.count * BYTES, at, at + BYTES);
    this.count += 1;
    this.#slots[slot] = this.count;
    if (2 * this.count > this.#slots.length) this.#spread();
    return this.count - 1;
  }

  #slotOf(bytes: Buffer, at: number): number {
    let bits = 0;
    for (let index = at; index < at + BYTES; index += 1) bits = Math.imul(bits ^ (bytes[index] as number), 0x01000193);
    const mask = this.#slots.length - 1;
    for (let slot = (bits ^ (bits >>> 15)) & mask; ; slot = (slot + 1) & mask) {
      const place = this.#slots[slot] as number;
      if (place === 0 || isSame(this.bytes, (place - 1) * BYTES, bytes, at, BYTES)) return slot;
    }
  }

  #spread(): void {
    this.#slots = new Int32Array(2 * this.#slots.length);
    for (let place = 0; place < this.count; place += 1)
      this.#slots[this.#slotOf(this.bytes, place * BYTES)] = place + 1;
  }
}

export function widened(bytes: Buffer, least = 0): Buffer {
  const wider = Buffer.allocUnsafeSlow(2 * Math.max(bytes.length, least));
  bytes.copy(wider);
  return wider;
}

export function isSame(one: Buffer, from: number, other: Buffer, at: number, length: number): boolean {
  for (let index = 0; index < length; index += 1) if (one[from + index] !== other[at + index]) return false;
  return true;
}
