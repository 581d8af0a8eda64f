/** Lists that nothing narrows, for a test or a figure to narrow. */
import type { AttemptFilters } from '../../src/audit/attempts.ts';
import type { DeliverySearch } from '../../src/delivery/partner/read-deliveries.ts';

/** All attempts. */
export const NO_FILTERS: AttemptFilters = {
  partnerId: null,
  loanId: null,
  event: null,
  deliveryId: null,
  webhookId: null,
  outcome: null,
  from: null,
  until: null,
};

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
