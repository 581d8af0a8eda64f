/** The service's own state, for operators. */
import { sql } from 'drizzle-orm';
import { bigint, boolean, check, index, integer, json, jsonb, pgTable, text, uuid } from 'drizzle-orm/pg-core';
import { bytea, CLOCK, instant, place, preciseInstant } from './columns.ts';
import { oneOf, sealed } from './constraints.ts';

/**
 * One row for each API and poller; `start` has both. The process writes it every few seconds and deletes it when it stops; a killed
 * process's row is deleted a day later (main/operations/heartbeat). `keys` names the keys of its SECRETS_KEY, the encrypting one first.
 */
export const processes = pgTable('processes', {
  name: text('name').primaryKey(),
  role: text('role', { enum: ['api', 'poller'] }).notNull(),
  host: text('host').notNull(),
  version: text('version').notNull(),
  keys: text('keys').array().notNull(),
  /** By the setting that names the file: the end of a certificate that the process shows others. */
  certificates: jsonb('certificates').notNull().default({}),
  startedAt: preciseInstant('started_at').notNull().defaultNow(),
  seenAt: preciseInstant('seen_at').notNull().defaultNow(),
});

/**
 * The last fault of ours that kept a webhook's delivery from being sent, in the poller's log's words. It is retried every minute, so the
 * fault lasts while `at` is recent (present_send_faults.sql).
 */
export const sendFaults = pgTable('send_faults', {
  webhookId: uuid('webhook_id').primaryKey(),
  reason: text('reason').notNull(),
  /** Its beginning; one that follows within minutes continues it. */
  since: preciseInstant('since').notNull().defaultNow(),
  at: preciseInstant('at').notNull().defaultNow(),
});

/** Findings of each `audit balance`, append-only. */
export const balanceVerdicts = pgTable(
  'balance_verdicts',
  {
    position: bigint('position', { mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
    fromDay: text('from_day').notNull(),
    toDay: text('to_day').notNull(),
    closes: boolean('closes').notNull(),
    /** Includes unexpected facts, which do not keep a balance from closing. */
    differences: integer('differences').notNull(),
    checkedAt: preciseInstant('checked_at').notNull().defaultNow(),
  },
  () => [check('balance_verdicts_differences', sql`differences >= 0 and (closes or differences > 0)`)],
);

/**
 * Days with a closed balance and nothing pending (audit/kept-days): their sums, and the seals they rest on. `leaf` is the last of them,
 * which detects a log that lost it. A row goes when something of its day changes.
 */
export const balanceDays = pgTable(
  'balance_days',
  {
    day: text('day').primaryKey(),
    lines: json('lines').notNull(),
    differences: json('differences').notNull(),
    /** Null for a day without events. */
    firstSeal: bigint('first_seal', { mode: 'number' }),
    lastSeal: bigint('last_seal', { mode: 'number' }).notNull(),
    leaf: bytea('leaf').notNull(),
  },
  () => [check('balance_days_seals', sql`coalesce(first_seal, 1) between 1 and last_seal`)],
);

/**
 * Findings of each `audit verify`, append-only, and its progress while not `finished`. It read `seals` seals above the first `since`, when
 * the log's head was (`size`, `root`). `found` has the first findings.
 */
export const verifyVerdicts = pgTable(
  'verify_verdicts',
  {
    position: bigint('position', { mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
    since: bigint('since', { mode: 'number' }).notNull(),
    seals: bigint('seals', { mode: 'number' }).notNull(),
    rows: bigint('rows', { mode: 'number' }).notNull(),
    size: bigint('size', { mode: 'number' }).notNull(),
    root: bytea('root'),
    findings: integer('findings').notNull(),
    found: json('found').notNull(),
    finished: boolean('finished').notNull(),
    checkedAt: preciseInstant('checked_at').notNull().defaultNow(),
  },
  (table) => [
    index('verify_verdicts_whole')
      .on(table.position)
      .where(sql`finished and since = 0`),
    check(
      'verify_verdicts_head',
      sql`(size > 0) = (root is not null) and least(since, seals, rows, size, findings) >= 0`,
    ),
  ],
);

/** The jobs that `api` runs by itself (main/maintenance/jobs): who runs each, and how its last run ended. `schedule` null: `off`. */
export const scheduledJobs = pgTable(
  'scheduled_jobs',
  {
    name: text('name').primaryKey(),
    schedule: text('schedule'),
    nextAt: preciseInstant('next_at'),
    runBy: text('run_by'),
    runUntil: preciseInstant('run_until'),
    startedAt: preciseInstant('started_at'),
    endedAt: preciseInstant('ended_at'),
    succeededAt: preciseInstant('succeeded_at'),
    exitCode: integer('exit_code'),
    /** The beginning of its output. */
    result: text('result'),
    knownAt: preciseInstant('known_at').notNull().defaultNow(),
  },
  () => [
    check('scheduled_jobs_run', sql`(run_by is null) = (run_until is null)`),
    check('scheduled_jobs_off', sql`schedule is not null or next_at is null`),
  ],
);

export const SYSTEM_CHANGES = ['catalogo', 'configuracao'] as const;

/**
 * Changes of the event catalog (keep_catalog_history.sql) and of the settings at a process's start (src/main/service/settings-history.ts),
 * append-only and sealed. `value`: JSON; null for a removed event.
 */
export const systemHistory = pgTable(
  'system_history',
  {
    position: bigint('position', { mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
    about: text('about', { enum: SYSTEM_CHANGES }).notNull(),
    /** The event's name, or the process's role. */
    name: text('name').notNull(),
    value: text('value'),
    actor: text('actor').notNull(),
    changedAt: instant('changed_at').notNull().default(CLOCK),
    ...place(),
  },
  (table) => [
    index('system_history_of').on(table.about, table.name, table.position),
    ...sealed('system_history'),
    check('system_history_about', oneOf('about', SYSTEM_CHANGES)),
  ],
);
