/** The row on which work about one partner queues: webhooks made active, detections of bonds, closings of a month. */
import { eq } from 'drizzle-orm';
import { prepared } from './prepared.ts';
import { partners } from './tables/partners.ts';

/** Locks the partner's row until the transaction ends; no row for an unknown partner. NO KEY leaves its appends alone. */
export const lockPartner = prepared<{ partnerId: string }>()((database, { partnerId }) =>
  database.select({ id: partners.id }).from(partners).where(eq(partners.id, partnerId)).for('no key update'),
);
