import type { AttemptFilters } from '../../src/audit/attempts.ts';

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
