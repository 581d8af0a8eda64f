/** What a look at the database tells, by name: gauges that are as true with every poller dead. */

interface Spec {
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
}

export const READINGS = {
  overdue: {
    name: 'carteiro_deliveries_overdue',
    help: 'Deliveries that have been due for 5 s and that nobody has taken, by what they wait for: poller, or cap (of the webhook, or its partner share)',
    labels: ['waits_for'],
  },
  oldestOverdue: {
    name: 'carteiro_deliveries_oldest_overdue_seconds',
    help: 'How long the oldest delivery that is due and that nobody has taken has been due, by what it waits for; 0 without one',
    labels: ['waits_for'],
  },
  deliveries: {
    name: 'carteiro_deliveries',
    help: 'Deliveries that are not delivered: first (no attempt has failed yet), retrying, suspensa, erro; counted up to 10,000 each, and beyond that as of the last ANALYZE or VACUUM',
    labels: ['state'],
  },
  webhooks: {
    name: 'carteiro_webhooks',
    help: 'Webhooks: active, muted (by the operator), inactive; and of those with something pending: failing (falhando, or without that policy: a delivery waits for its retry), saturated (cap in use), silent (did not answer last)',
    labels: ['state'],
  },
  pollers: {
    name: 'carteiro_pollers',
    help: 'Pollers by their last sign of life: alive (in the last 30 s), lost (in the last hour)',
    labels: ['state'],
  },
  heartbeats: {
    name: 'carteiro_poller_heartbeat_age_seconds',
    help: 'How long ago each poller last gave a sign of life; those of the last hour, 100 at most',
    labels: ['poller', 'version'],
  },
  sealLag: {
    name: 'carteiro_seal_lag_seconds',
    help: 'How long the oldest row written after the last seal has been there; 0 when there is none',
    labels: [],
  },
  anchorLag: {
    name: 'carteiro_anchor_lag_seconds',
    help: 'Since when a signed checkpoint waits for each place outside; 0 while the place has the newest',
    labels: ['kind'],
  },
  balanceCloses: {
    name: 'carteiro_balance_closes',
    help: 'Whether the last run of audit balance closed: 1, or 0; absent before the first',
    labels: [],
  },
  balanceDifferences: {
    name: 'carteiro_balance_differences',
    help: 'Differences that the last run of audit balance found, unexpected facts included',
    labels: [],
  },
  balanceAge: {
    name: 'carteiro_balance_age_seconds',
    help: 'How long ago audit balance last ran; before the first, the age of the installation',
    labels: [],
  },
  verifyHolds: {
    name: 'carteiro_verify_holds',
    help: 'Whether the last audit verify of the whole log, and those that went on from it, found nothing: 1, or 0; absent before the first',
    labels: [],
  },
  verifyFindings: {
    name: 'carteiro_verify_findings',
    help: 'Findings of the last audit verify of the whole log, and of those that went on from it',
    labels: [],
  },
  verifyAge: {
    name: 'carteiro_verify_age_seconds',
    help: 'How long ago audit verify last ended; before the first, the age of the installation',
    labels: [],
  },
  jobOverdue: {
    name: 'carteiro_job_overdue_seconds',
    help: 'How long ago each job should have begun; 0 while it is not due, or runs',
    labels: ['job'],
  },
  jobSucceeded: {
    name: 'carteiro_job_last_success_age_seconds',
    help: 'How long ago each job last ended well; before that, how long it is known',
    labels: ['job'],
  },
  jobDuration: {
    name: 'carteiro_job_duration_seconds',
    help: 'How long the last run of each job took; absent before the first, and while it runs',
    labels: ['job'],
  },
  jobExitCode: {
    name: 'carteiro_job_exit_code',
    help: 'How the last run of each job ended: 0 well, 1 refused or not as it should be, 2 its settings, 3 out of reach',
    labels: ['job'],
  },
  tableBytes: {
    name: 'carteiro_table_bytes',
    help: 'Bytes on disk of each table with its indexes',
    labels: ['table'],
  },
  tableRows: {
    name: 'carteiro_table_rows_estimated',
    help: 'Rows of each table as of its last ANALYZE or VACUUM; the indexes deliveries_due (pending) and deliveries_stopped (erro, suspensa) as tables',
    labels: ['table'],
  },
  epoch: {
    name: 'carteiro_epoch',
    help: 'The epoch that rows written now get; rises with a promotion, a recovery, an adopt',
    labels: [],
  },
  clockSkew: {
    name: 'carteiro_clock_skew_seconds',
    help: 'How far this process and the database are apart in time',
    labels: [],
  },
  pendingMigrations: {
    name: 'carteiro_migrations_pending',
    help: 'Migrations of this version that the database lacks',
    labels: [],
  },
  capped: {
    name: 'carteiro_measure_capped',
    help: 'Whether a measure stopped counting at its bound: 1 when there is at least as much as it says, else 0',
    labels: ['measure'],
  },
  measureSeconds: {
    name: 'carteiro_measure_seconds',
    help: 'How long each measure of the database took',
    labels: ['measure'],
  },
} as const satisfies Readonly<Record<string, Spec>>;

export type ReadingName = keyof typeof READINGS;

export interface Sample {
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
}

/** What could be read; a name that is missing is shown without a sample. */
export type Readings = { readonly [Name in ReadingName]?: readonly Sample[] };
