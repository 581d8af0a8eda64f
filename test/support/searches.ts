/** Lists that nothing narrows, for a test or a figure to narrow. */
import type { Search } from '../../src/audit/lists/list.ts';
import type { DeliverySearch } from '../../src/delivery/partner/read-deliveries.ts';

/** All rows of a kind. */
export const EVERYTHING: Search = { filters: {}, from: null, until: null };

/** All deliveries of the webhooks that are named beside it. */
export const ALL_DELIVERIES: Omit<DeliverySearch, 'partnerId' | 'webhookIds' | 'limit'> = {
  status: null,
  event: null,
  loanId: null,
  outcome: null,
  statusCode: null,
  from: null,
  until: null,
  after: null,
};
