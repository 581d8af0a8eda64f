/**
 * Bytes of answers whose final headers have not ended: what a hostile receiver can make the parser keep or work on.
 * One attempt may buffer MAX_UNENDED_BYTES, and all of them MAX_TOTAL_BYTES. A well-behaved answer buffers nothing. Without a limit:
 * headers of one byte each take 56 times their length (400 endless answers: 720 MiB), and 8 endless status lines took 80 % of a core for 30
 * s.
 */

/** Twice the longest headers that are read. */
export const MAX_UNENDED_BYTES = 32_768;
/** Of all answers of one sender; beyond it, each new answer may hold only {@link MAX_WHEN_FULL_BYTES}. */
const MAX_TOTAL_BYTES = 262_144;
const MAX_WHEN_FULL_BYTES = 2_048;

export class UnendedBytes {
  #total = 0;

  get limit(): number {
    return this.#total > MAX_TOTAL_BYTES ? MAX_WHEN_FULL_BYTES : MAX_UNENDED_BYTES;
  }

  add(bytes: number): void {
    this.#total += bytes;
  }
}
