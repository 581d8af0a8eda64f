/**
 * Bytes of answers whose final headers have not ended: what hostile receivers can make the parser keep or work on.
 *
 * Headers of one byte each take 56 times their length in memory. An endless status line, or blank lines before it, are not
 * limited by the client at all. Measured: 8 such floods took 80 % of a core for their 30 s; 400 answers with 8,000 tiny
 * headers each and no end took 720 MiB. So one attempt may buffer MAX_UNENDED_BYTES and all of them MAX_TOTAL_BYTES. A
 * well-behaved answer arrives in one or two packets and buffers nothing.
 */

/** For one answer: twice the longest headers that are read. */
export const MAX_UNENDED_BYTES = 32_768;
/** Of all answers of one sender; while it is passed, each new arrival may hold only {@link MAX_WHEN_FULL_BYTES}. */
const MAX_TOTAL_BYTES = 262_144;
const MAX_WHEN_FULL_BYTES = 2_048;

export class UnendedBytes {
  #total = 0;

  /** How much one attempt may hold now. */
  get limit(): number {
    return this.#total > MAX_TOTAL_BYTES ? MAX_WHEN_FULL_BYTES : MAX_UNENDED_BYTES;
  }

  add(bytes: number): void {
    this.#total += bytes;
  }
}
