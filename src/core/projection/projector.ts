/**
 * The projector: follows the log and applies events that a core in another language appended (apply-events.ts). Our own core
 * writes its projection in the transaction of its events.
 *
 * Invariant: every event up to the cursor in `projections` is applied, in the log's order and below `pg_snapshot_xmin`. The
 * cursor moves in the transaction that applied them, so a crash, an outage or a deadlock only repeats the batch. One projector
 * works at a time, under a transaction's advisory lock, which also works behind a pooler. An event that the catalog does not
 * allow is logged, counted and skipped; so is one that cannot be applied, until `rebuild` applies it.
 *
 * Alternative: a trigger, or `append_event`, would need a second `evolve` in SQL, in the core's transaction.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool, Tx } from '../../db/pool.ts';
import { inSavepoint } from '../../db/transaction.ts';
import { runLoop } from '../../db/outage-log.ts';
import { codeOf, isUnavailable } from '../../db/unavailable.ts';
import { moveTo, type PlacedEvent, readLagS, readProgress, readSettled } from '../../log/follow.ts';
import type { Logger } from '../../log-lines.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import { applyEvents, type Attempt, readFaulty } from './apply-events.ts';

/** Its name in `projections`. */
const LOANS = 'loans';
const BATCH_EVENTS = 1_000;
export const EVERY_MS = 200;
const AFTER_FAULT_MS = 2_000;
/** How often an idle projector writes down how far it has come in time; a closing writes it whenever it asks. */
const MARK_EVERY_MS = 60_000;
/** Deadlocks, cancellations, exhaustion: the batch is repeated. Anything else is the event's fault. */
const PASSING_CODE = /^(40|53|55|57)/;

export interface ProjectorDeps {
  readonly pool: Pool;
  readonly log: Logger;
  readonly metrics?: Pick<Metrics, 'countProjectorFault'>;
}

export interface ProjectorBatch {
  /** False when another projector is at work. */
  readonly isOurs: boolean;
  readonly events: number;
  /** True when settled events may be left: take another batch at once. */
  readonly more: boolean;
}

export interface BatchOptions {
  readonly limit?: number;
  readonly markEveryMs?: number;
}

/** Applies the next settled events. */
export async function projectBatch(deps: ProjectorDeps, options: BatchOptions = {}): Promise<ProjectorBatch> {
  const { limit = BATCH_EVENTS, markEveryMs = MARK_EVERY_MS } = options;
  return deps.pool.transaction(async (tx) => {
    const [lock] = await tx<[{ taken: boolean }]>`
      select pg_try_advisory_xact_lock(advisory_lock('projecting')) as taken`;
    if (!lock.taken) return { isOurs: false, events: 0, more: false };
    // Before the events are read: every transaction below it is over, so its events are read now or were before.
    const [{ xmin }] = await tx<[{ xmin: string }]>`select pg_snapshot_xmin(pg_current_snapshot())::text as xmin`;
    const events = await readSettled(tx, await readProgress(tx, LOANS), limit);
    const attempt = tolerating(tx, deps);
    await attempt({ events: events.length }, () => reportFaulty(tx, deps, events));
    await applyEvents(tx, events, attempt);
    const last = events.at(-1);
    if (last !== undefined) await moveTo(tx, LOANS, last);
    const more = events.length === limit;
    if (!more) await pass(tx, xmin, markEveryMs);
    return { isOurs: true, events: events.length, more };
  });
}

/** Projects until `signal` is aborted; carries on by itself through outages. */
export async function runProjector(deps: ProjectorDeps, signal: AbortSignal): Promise<void> {
  const loop = {
    log: deps.log,
    afterFaultMs: AFTER_FAULT_MS,
    away: 'the database is out of reach, projecting later',
    fault: 'events could not be projected',
  };
  await runLoop(loop, signal, async () => ((await projectBatch(deps)).more ? 0 : EVERY_MS));
}

/** Projects until every transaction begun before `instant` is in. Null, or after `waitMs` why it is not so. */
export async function projectUntil(deps: ProjectorDeps, instant: Date, waitMs: number): Promise<string | null> {
  const startedMs = performance.now();
  for (;;) {
    // The first batch that finds nothing left sets the mark, the next one may pass it.
    for (let round = 0; round < 2; round += 1) while ((await projectBatch(deps, { markEveryMs: 0 })).more);
    const { passedAt, reason } = await deps.pool.run(readHoldUp);
    if (passedAt !== null && passedAt >= instant) return null;
    if (performance.now() - startedMs >= waitMs) return reason;
    await sleep(EVERY_MS);
  }
}

/** How long the oldest event that is not projected yet has been in the log, in seconds. */
export async function readProjectorLagS(tx: Tx): Promise<number> {
  return readLagS(tx, await readProgress(tx, LOANS));
}

async function reportFaulty(tx: Tx, { log, metrics }: ProjectorDeps, events: readonly PlacedEvent[]): Promise<void> {
  if (events.length === 0) return;
  for (const faulty of await readFaulty(tx, events)) {
    metrics?.countProjectorFault();
    log.error(faulty, 'an event in the log is not as the catalog has it');
  }
}

/** Undoes what of a piece failed, and goes on. */
function tolerating(tx: Tx, { log, metrics }: ProjectorDeps): Attempt {
  return async (ids, work) => {
    try {
      await inSavepoint(tx, work);
      return true;
    } catch (error) {
      const code = codeOf(error);
      if (isUnavailable(error) || PASSING_CODE.test(code ?? '')) throw error;
      metrics?.countProjectorFault();
      log.error({ ...ids, code, error: (error as Error).name }, 'events could not be applied; run rebuild once it can');
      return false;
    }
  };
}

/**
 * All below `xmin` is in: passes the mark if it lies there, and sets the next one to this transaction's own id, which is above each
 * that had begun to write. (A snapshot's xmax is not: it is the highest that is over.)
 */
async function pass(tx: Tx, xmin: string, everyMs: number): Promise<void> {
  await tx`
    update projections
    set passed_at = mark_at, mark_epoch = current_epoch(), mark_tx = pg_current_xact_id(), mark_at = statement_timestamp()
    where name = ${LOANS}
      and (mark_tx is null or ((mark_epoch, mark_tx) <= (current_epoch(), ${xmin}::text::xid8)
                               and mark_at <= statement_timestamp() - ${everyMs} * interval '1 millisecond'))`;
}

/** How far the projector has come, and the transaction that holds it up, as far as this login may see it. */
async function readHoldUp(tx: Tx): Promise<{ passedAt: Date | null; reason: string }> {
  const [{ passedAt, markAt }] = await tx<[{ passedAt: Date | null; markAt: Date | null }]>`
    select passed_at as "passedAt", mark_at as "markAt" from projections where name = ${LOANS}`;
  // Without pg_monitor a login sees only the process ids of other logins' sessions.
  const [oldest] = await tx<{ pid: number; since: Date | null; name: string | null }[]>`
    select pid, xact_start as since, application_name as name
    from pg_stat_activity
    where backend_xid is not null and pid <> pg_backend_pid()
    order by age(backend_xid) desc
    limit 1`;
  const cause =
    oldest === undefined
      ? 'a transaction that began to write before is still open, or another projector is behind'
      : `the transaction of process ${oldest.pid} (${oldest.name ?? 'of another login'}) is open` +
        (oldest.since === null ? '' : ` since ${oldest.since.toISOString()}`);
  const wanted = markAt === null ? 'the log' : `what was written before ${markAt.toISOString()}`;
  return { passedAt, reason: `the projector has not passed ${wanted}: ${cause}; end it, then run the command again` };
}
