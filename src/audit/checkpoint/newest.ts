/**
 * The newest checkpoint in a poller's memory, as the header of its deliveries: read every few seconds, so that no delivery
 * waits for it. While the database is away the last one stays.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from '../../db/pool.ts';
import { checkpointHeader } from './checkpoint.ts';
import { readCheckpoint } from './stored.ts';

const EVERY_MS = 10_000;
/** The longest header that a receiver's server takes without complaint. */
const MAX_BYTES = 256;

export class NewestCheckpoint {
  #header: string | null = null;

  get header(): string | null {
    return this.#header;
  }

  /** Keeps what it has where the database cannot be asked, or where somebody has made the note unreadable: `audit verify` tells that. */
  async look(pool: Pool): Promise<void> {
    const header = await pool
      .run((sql) => readCheckpoint(sql))
      .then((stored) => (stored === null ? null : checkpointHeader(stored.note)))
      .catch(() => undefined);
    if (header === undefined) return;
    this.#header = header === null || header.length > MAX_BYTES ? null : header;
  }

  /** Looks until `signal` is aborted. */
  async run(pool: Pool, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.look(pool);
      await sleep(EVERY_MS, undefined, { signal }).catch(() => undefined);
    }
  }
}
