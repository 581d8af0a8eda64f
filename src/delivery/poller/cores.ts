/**
 * Whether this machine has a core to spare. Where it has none, one more poller drains nothing more: it only takes time from the
 * pollers that are at work, from PostgreSQL and from receivers.
 */
import { cpus } from 'node:os';

/** While less than this part of one core is idle, none is to spare. */
const SPARE = 1 / 2;
/** It is told of so many milliseconds at least. */
const OBSERVED_MS = 200;

/** For how many milliseconds the cores were idle since the machine started, all together. */
function readIdleMs(): number {
  return cpus().reduce((sum, { times }) => sum + times.idle, 0);
}

export class Cores {
  readonly #readIdleMs: () => number;
  #idleMs: number;
  #atMs: number;
  #hasSpare = true;

  /** Times are monotonic. */
  constructor(atMs: number, readIdle = readIdleMs) {
    this.#readIdleMs = readIdle;
    this.#idleMs = readIdle();
    this.#atMs = atMs;
  }

  /** Whether there was a core to spare since this was last asked. */
  hasSpare(atMs: number): boolean {
    const passedMs = atMs - this.#atMs;
    if (passedMs < OBSERVED_MS) return this.#hasSpare;
    const idleMs = this.#readIdleMs();
    this.#hasSpare = idleMs - this.#idleMs >= passedMs * SPARE;
    this.#idleMs = idleMs;
    this.#atMs = atMs;
    return this.#hasSpare;
  }
}
