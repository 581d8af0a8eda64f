import type { Tx } from '../../db/pool.ts';

/**
 * Bounds how long the transaction waits for a lock, to 300 ms. What records teach of webhooks holds up their slots until it is written, and
 * may be missed: whoever holds a webhook or its lane must not stop the records of all others.
 */
export async function waitBriefly(tx: Tx): Promise<void> {
  await tx`set local lock_timeout = '300ms'`;
}
