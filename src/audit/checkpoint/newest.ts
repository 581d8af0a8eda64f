/**
 * The newest checkpoint in a poller's memory, for the header of its deliveries. It is read when a claim has deliveries and the last
 * read is {@link OLD_MS} ago. Only the first deliveries after a rest wait for it; idle pollers ask nothing. While the database is
 * away the last one stays.
 */
import type { Pool } from '../../db/pool.ts';
import { sentHeader } from './checkpoint.ts';
import { readCheckpoint } from './stored.ts';

const OLD_MS = 10_000;
/** After this long, sends wait for a new read. */
const TOO_OLD_MS = 20_000;

export class NewestCheckpoint {
  readonly #pool: Pool;
  readonly #monotonicMs: () => number;
  #header: string | null = null;
  #lookedAtMs = Number.NEGATIVE_INFINITY;
  #awaited: Promise<void> | null = null;

  constructor(pool: Pool, monotonicMs: () => number) {
    this.#pool = pool;
    this.#monotonicMs = monotonicMs;
  }

  get header(): string | null {
    return this.#header;
  }

  async renew(): Promise<void> {
    const atMs = this.#monotonicMs();
    const ageMs = atMs - this.#lookedAtMs;
    if (ageMs >= OLD_MS) {
      this.#lookedAtMs = atMs;
      const looking = this.#look();
      if (ageMs >= TOO_OLD_MS) this.#awaited = looking;
    }
    await this.#awaited;
  }

  /** Keeps the last one where the database is away or somebody made the note unreadable (`audit verify` reports that). */
  async #look(): Promise<void> {
    const header = await this.#pool
      .run((sql) => readCheckpoint(sql))
      .then((stored) => (stored === null ? null : sentHeader(stored.note)))
      .catch(() => undefined);
    if (header !== undefined) this.#header = header;
  }
}
