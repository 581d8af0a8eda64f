/** The doctor and the alert rules call the same thing late. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { SKEWED_S } from '../../../src/db/clock-skew.ts';
import { MANY_TRANSACTIONS } from '../../../src/db/held-rows.ts';
import { LATE_S } from '../../../src/main/operations/doctor-maintenance.ts';

const alerts = readFileSync(path.resolve(import.meta.dirname, '../../../src/main/operations/alerts.yml'), 'utf8');

test.each([
  ['max(carteiro_seal_lag_seconds)', LATE_S.seal],
  ['min(carteiro_verify_age_seconds)', LATE_S.verify],
  ['max by (kind) (carteiro_anchor_lag_seconds)', LATE_S.anchor],
  ['max(carteiro_deliveries_oldest_overdue_seconds{waits_for="poller"})', LATE_S.delivery],
  ['max(carteiro_projector_lag_seconds)', LATE_S.projector],
  ['max(carteiro_held_back_transactions)', MANY_TRANSACTIONS],
  ['max by (job) (carteiro_job_overdue_seconds)', LATE_S.job],
  ['carteiro_clock_skew_seconds', SKEWED_S],
])('%s > %d', (measure, limit) => {
  expect(alerts).toContain(`${measure} > ${limit}\n`);
});
