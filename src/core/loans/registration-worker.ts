/**
 * Sends every due registration to the registry, and records its answer.
 *
 * Invariant: a registration ends once. A claim moves `next_try_at` to the end of a lease, which is longer than a call's
 * deadline, and commits before the call. The loan refuses a second answer; an answer that contradicts the loan's is kept in the
 * row. After a 202 the registration is looked up until it ends. A call without an answer is repeated after 1 s, doubled to 5
 * minutes, without limit, because only the registry knows the end. While the gate (gate.ts) is closed, nothing is claimed.
 *
 * Crash: the row is due after its lease and is sent again under the same reference, to which the registry gives the same answer.
 * Alternative: locking the row during the call holds a transaction and a connection.
 */
import { runLoop } from '../../db/outage-log.ts';
import type { Pool } from '../../db/pool.ts';
import type { LogFields, Logger } from '../../log-lines.ts';
import type { LoanState } from '../../loan/state.ts';
import {
  NotAsked,
  type Pending,
  type RegistrationAnswer,
  type RegistrationRegistry,
  RegistryFailure,
} from '../../registry/port.ts';
import { inTrace } from '../../telemetry/traces.ts';
import { closeLost } from './open-registrations.ts';
import { recordRegistration } from './registration.ts';

export const EVERY_MS = 200;
const LEFT_ALONE_POLL_MS = 2_000;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 5 * 60 * 1_000;
const ACTOR = 'registration-worker';
const MAX_ANSWER = 300;

export interface RegistrationWorkerDeps {
  readonly pool: Pool;
  readonly registry: RegistrationRegistry;
  readonly log: Logger;
  readonly documentsDeadlineDays: number;
  /** A call to the registry, and time to record its answer in. */
  readonly leaseMs: number;
  /** Calls at once. */
  readonly slots: number;
  /** The registry has failed, and is not asked for a while. */
  readonly isLeftAlone: () => boolean;
}

interface Claim {
  readonly id: string;
  readonly partnerId: string;
  readonly tries: number;
  readonly failures: number;
  readonly pending: boolean;
  readonly loan: LoanState;
  /** Of the request that asked for it. */
  readonly requestId: string | null;
  readonly traceparent: string | null;
}

export function registrationWorker(deps: RegistrationWorkerDeps) {
  const inFlight = new Set<Promise<void>>();

  /** Claims for the free slots; the claimed registrations proceed by themselves. */
  async function start(): Promise<number> {
    if (deps.isLeftAlone()) {
      await reportWaiting(deps.pool);
      return 0;
    }
    const claims = await claim(deps, deps.slots - inFlight.size);
    for (const claimed of claims) {
      const task = work(deps, claimed).finally(() => inFlight.delete(task));
      inFlight.add(task);
    }
    return claims.length;
  }

  /** Claims what is due, into the free slots, and sees it through. Returns how many were claimed. Throws when claiming fails. */
  async function tick(): Promise<number> {
    const claimed = await start();
    await Promise.all(inFlight);
    return claimed;
  }

  /** Works until `signal` aborts, then finishes what is in flight. Database faults are logged and outlived. */
  async function run(signal: AbortSignal): Promise<void> {
    const fault = 'could not claim registrations';
    await runLoop({ log: deps.log, afterFaultMs: EVERY_MS, away: fault, fault }, signal, async () => {
      await start();
      if (inFlight.size < deps.slots) return deps.isLeftAlone() ? LEFT_ALONE_POLL_MS : EVERY_MS;
      await Promise.race(inFlight);
      return 0;
    });
    await Promise.all(inFlight);
  }

  return { tick, run };
}

/** Those that nothing was said of yet wait for their turn. Each is written once. */
async function reportWaiting(pool: Pool): Promise<void> {
  await pool.run(
    (sql) => sql`
      update registrations set last_answer = ${new NotAsked('open').reported}
      where id = any (array(
        select id from registrations
        where status = 'processando' and next_try_at <= now() and last_answer is null
        limit 1000 for update skip locked))`,
  );
}

async function claim({ pool, leaseMs }: RegistrationWorkerDeps, limit: number): Promise<readonly Claim[]> {
  if (limit <= 0) return [];
  return pool.transaction(
    (tx) => tx<Claim[]>`
      with due as materialized (
        select id
        from registrations
        where status = 'processando' and next_try_at <= now()
        order by next_try_at
        limit ${limit}
        for update skip locked
      )
      update registrations r
      set next_try_at = now() + ${leaseMs} * interval '1 millisecond', tries = r.tries + 1
      from due, registrations d, loans l
        left join lateral (
          select e.request_id, e.traceparent from events e
          where e.stream = l.id and e.type = 'averbacao.solicitada' order by e.version desc limit 1
        ) asked on true
      where r.id = due.id and d.id = due.id and l.id = d.loan_id
      returning r.id, r.partner_id as "partnerId", r.tries, r.failures, r.pending, l.state as loan,
                asked.request_id::text as "requestId", asked.traceparent`,
  );
}

/** Never throws: whatever goes wrong, the lease brings the registration back. */
async function work(deps: RegistrationWorkerDeps, claimed: Claim): Promise<void> {
  const fields = { registrationId: claimed.id, loanId: claimed.loan.id, tries: claimed.tries };
  try {
    const answer = await inTrace('registration', claimed.traceparent, () => ask(deps.registry, claimed));
    if (answer === null)
      await setNext(deps.pool, claimed, 'o registry não conhece a averbação', { delayMs: 0, pending: false });
    else if (answer.outcome === 'pending') {
      const next = { delayMs: answer.askAgainMs, pending: true, failures: 0 };
      await setNext(deps.pool, claimed, 'em processamento no registry', next);
    } else await record(deps, claimed, answer, fields);
  } catch (error) {
    if (!(error instanceof RegistryFailure || error instanceof NotAsked)) {
      deps.log.warn({ ...fields, error: nameOf(error) }, 'could not record a registration; its lease brings it back');
      return;
    }
    // Where it was not asked, nothing is counted and nothing new is said.
    const isAsked = !(error instanceof NotAsked);
    const failures = claimed.failures + (isAsked ? 1 : 0);
    const delayMs = Math.min(FIRST_PAUSE_MS * 2 ** Math.max(failures - 1, 0), LONGEST_PAUSE_MS);
    const reason = error.message;
    deps.log.warn({ ...fields, failures, delayMs, reason }, 'the registry did not answer; asking again later');
    const reported = error.reported.slice(0, MAX_ANSWER);
    await setNext(deps.pool, claimed, reported, { delayMs, failures, isAsked }).catch(() => undefined);
  }
}

/** Records the answer. When it comes too late, the log says what the loan has instead. */
async function record(
  { pool, log, documentsDeadlineDays }: RegistrationWorkerDeps,
  { id, partnerId, loan }: Claim,
  answer: RegistrationAnswer,
  fields: LogFields,
): Promise<void> {
  const recorded = await recordRegistration(
    pool,
    { partnerId, actor: ACTOR, requestId: null },
    { loanId: loan.id, registrationId: id, answer, documentsDeadlineDays },
  );
  if ('ok' in recorded) {
    log.info({ ...fields, outcome: answer.outcome }, 'registration ended');
    return;
  }
  const lost = await pool.transaction((tx) => closeLost(tx, { loanId: loan.id, registrationId: id, answer }));
  const reported = { ...fields, outcome: answer.outcome, ...lost };
  if (lost.contradicts) log.error(reported, 'the registry contradicts the end that the registration has; see to it');
  else log.warn(reported, 'the registration had ended already');
}

/** What the registry says; null: it was never asked. Throws `RegistryFailure` or `NotAsked`. */
async function ask(
  registry: RegistrationRegistry,
  { id, loan, pending, requestId }: Claim,
): Promise<RegistrationAnswer | Pending | null> {
  // The registry's own deadline ends the call.
  const { signal } = new AbortController();
  const request = { registrationId: id, requestId, loan };
  try {
    return await (pending ? registry.lookUp(request, signal) : registry.register(request, signal));
  } catch (error) {
    if (error instanceof NotAsked || error instanceof RegistryFailure) throw error;
    throw new RegistryFailure(nameOf(error), { cause: error });
  }
}

interface Next {
  readonly delayMs: number;
  readonly pending?: boolean;
  readonly failures?: number;
  readonly isAsked?: boolean;
}

/** Gives the lease back early, unless somebody else has claimed the registration since. */
async function setNext(pool: Pool, claimed: Claim, answer: string, next: Next): Promise<void> {
  const { id, tries } = claimed;
  const { delayMs, pending = claimed.pending, failures = claimed.failures, isAsked = true } = next;
  await pool.run(
    (sql) => sql`
      update registrations
      set next_try_at = now() + ${delayMs} * interval '1 millisecond', pending = ${pending}, failures = ${failures},
          last_answer = case when ${isAsked} then ${answer} else coalesce(last_answer, ${answer}) end,
          tries = tries - ${isAsked ? 0 : 1}
      where id = ${id} and status = 'processando' and tries = ${tries}`,
  );
}

function nameOf(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}
