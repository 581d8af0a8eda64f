/** The row on which work about one partner queues: webhooks made active, detections of bonds, closings of a month. */
import type { Tx } from './sql.ts';

/** Locks the partner's row until the transaction ends; no row for an unknown partner. NO KEY leaves its appends alone. */
export function lockPartner(tx: Tx, partnerId: string): Promise<readonly { readonly id: string }[]> {
  return tx<{ id: string }[]>`select id from partners where id = ${partnerId} for no key update`;
}
