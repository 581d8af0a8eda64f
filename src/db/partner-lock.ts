import type { Tx } from './sql.ts';

/**
 * Locks the partner's row until the transaction ends; no row for an unknown partner. Activations of webhooks, detections of bonds and
 * closings of a month queue on it. NO KEY leaves appends alone.
 */
export function lockPartner(tx: Tx, partnerId: string): Promise<readonly { readonly id: string }[]> {
  return tx<{ id: string }[]>`select id from partners where id = ${partnerId} for no key update`;
}
