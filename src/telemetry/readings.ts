/** Gauges read from the database, by name; they stay true with every poller dead. */

type Spec = readonly [name: string, help: string, ...labels: string[]];

export const READINGS = {
  overdue: [
    'carteiro_deliveries_overdue',
    'Deliveries that have been due for 5 s and that nobody has taken, by what they wait for: poller, or cap (of the webhook, or its partner share)',
    'waits_for',
  ],
  oldestOverdue: [
    'carteiro_deliveries_oldest_overdue_seconds',
    'How long the oldest delivery that is due and that nobody has taken has been due, by what it waits for; 0 without one',
    'waits_for',
  ],
  deliveries: [
    'carteiro_deliveries',
    'Deliveries that are not delivered: first (no attempt has failed yet), retrying, suspensa, erro; counted up to 10,000 each, and beyond that as of the last ANALYZE or VACUUM',
    'state',
  ],
  webhooks: [
    'carteiro_webhooks',
    'Webhooks: active, muted (by the operator), inactive; and of those with something pending: failing (falhando, or without that policy: a delivery waits for its retry), saturated (cap in use), silent (did not answer last)',
    'state',
  ],
  processes: [
    'carteiro_processes',
    'APIs and pollers by their last sign of life: alive (in the last 30 s), lost (in the last hour)',
    'role',
    'state',
  ],
  heartbeats: [
    'carteiro_heartbeat_age_seconds',
    'How long ago each API and each poller last gave a sign of life; those of the last hour, 100 at most',
    'process',
    'role',
    'version',
  ],
  ownCertificates: [
    'carteiro_own_certificate_seconds',
    'How long the certificate that a living process shows others is still good, by the setting that names its file; below 0 once it has ended',
    'setting',
  ],
  projectorLag: [
    'carteiro_projector_lag_seconds',
    'How long the oldest event that the projector has not seen has been in the log; grows when no API lives',
  ],
  oldestDue: [
    'carteiro_oldest_due_lane_seconds',
    'How long the webhook that waits longest for a poller has had something due; grows when no poller lives',
  ],
  sealLag: [
    'carteiro_seal_lag_seconds',
    'How long the oldest row that no seal covers has been there; 0 when there is none',
  ],
  anchorLag: [
    'carteiro_anchor_lag_seconds',
    'Since when a signed checkpoint waits for each place outside; 0 while the place has the newest',
    'kind',
  ],
  balanceCloses: [
    'carteiro_balance_closes',
    'Whether the last run of audit balance closed: 1, or 0; absent before the first',
  ],
  balanceDifferences: [
    'carteiro_balance_differences',
    'Differences that the last run of audit balance found, unexpected facts included',
  ],
  balanceAge: [
    'carteiro_balance_age_seconds',
    'How long ago audit balance last ran; before the first, the age of the installation',
  ],
  verifyHolds: [
    'carteiro_verify_holds',
    'Whether the last audit verify of the whole log, and those that went on from it, found nothing: 1, or 0; absent before the first',
  ],
  verifyFindings: [
    'carteiro_verify_findings',
    'Findings of the last audit verify of the whole log, and of those that went on from it',
  ],
  verifyAge: [
    'carteiro_verify_age_seconds',
    'How long ago audit verify last ended; before the first, the age of the installation',
  ],
  jobOverdue: [
    'carteiro_job_overdue_seconds',
    'How long ago each job should have begun; 0 while it is not due, or runs',
    'job',
  ],
  jobSucceeded: [
    'carteiro_job_last_success_age_seconds',
    'How long ago each job last ended well; before that, how long it is known',
    'job',
  ],
  jobDuration: [
    'carteiro_job_duration_seconds',
    'How long the last run of each job took; absent before the first, and while it runs',
    'job',
  ],
  jobExitCode: [
    'carteiro_job_exit_code',
    'How the last run of each job ended: 0 well, 1 refused or not as it should be, 2 its settings, 3 out of reach',
    'job',
  ],
  tableBytes: ['carteiro_table_bytes', 'Bytes on disk of each table with its indexes', 'table'],
  tableRows: [
    'carteiro_table_rows_estimated',
    'Rows of each table as of its last ANALYZE or VACUUM; the index deliveries_stopped (erro, suspensa) as a table',
    'table',
  ],
  sessions: ['carteiro_database_sessions', 'Sessions of the PostgreSQL server, those of others included'],
  sessionsMost: [
    'carteiro_database_sessions_limit',
    'How many sessions logins without special rights may have there at most',
  ],
  heldBack: [
    'carteiro_held_back_transactions',
    'How many transactions have begun since the oldest whose dead rows vacuum must keep, for an open or prepared transaction, a standby or a slot',
  ],
  epoch: ['carteiro_epoch', 'The epoch that rows written now get; rises with a promotion, a recovery, an adopt'],
  clockSkew: ['carteiro_clock_skew_seconds', 'How far this process and the database are apart in time'],
  pendingMigrations: ['carteiro_migrations_pending', 'Migrations of this version that the database lacks'],
  capped: [
    'carteiro_measure_capped',
    'Whether a measure stopped counting at its bound: 1 when there is at least as much as it says, else 0',
    'measure',
  ],
  measureSeconds: ['carteiro_measure_seconds', 'How long each measure of the database took', 'measure'],
} as const satisfies Readonly<Record<string, Spec>>;

export type ReadingName = keyof typeof READINGS;

export interface Sample {
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
}

/** A missing name is shown without a sample. */
export type Readings = { readonly [Name in ReadingName]?: readonly Sample[] };
