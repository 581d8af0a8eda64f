/**
 * Asks the registry for every registration that is due, and records its answer.
 *
 * Invariant: one registration ends once. A claim moves `next_try_at` to the end of a lease and commits before the
 * registry is called. When a worker dies, the row becomes due by itself and is asked again with the same reference, to
 * which the registry gives the same answer. The loan refuses a second answer, so a worker that outlived its lease
 * changes nothing. The call's deadline is shorter than the lease, so a slow registry alone never makes two workers ask
 * at once.
 * Alternative: holding the row's lock during the call keeps a transaction and a connection for as long as the registry
 * takes.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { logFailedTry } from '../../db/outage-log.ts';
import type { Pool } from '../../db/pool.ts';
import type { Logger } from '../../log-lines.ts';
import type { LoanState } from '../../loan/state.ts';
import type { RegistrationAnswer, RegistrationRegistry } from '../../registry/port.ts';
import { closeSuperseded } from './open-registrations.ts';
import { recordRegistration } from './registration.ts';

const LEASE_MS = 15_000;
const CALL_TIMEOUT_MS = 10_000;
const IDLE_POLL_MS = 200;
const MAX_IN_FLIGHT = 8;
const BACKOFF_MS = [1_000, 2_000, 5_000, 15_000, 60_000] as const;
const ACTOR = 'registration-worker';

export interface RegistrationWorkerDeps {
  readonly pool: Pool;
  readonly registry: RegistrationRegistry;
  readonly log: Logger;
  readonly documentsDeadlineDays: number;
  readonly leaseMs?: number;
  readonly callTimeoutMs?: number;
}

export interface RegistrationWorker {
  /** Claims what is due, at most eight, and sees it through. Returns how many were claimed. Throws when claiming fails. */
  tick(): Promise<number>;
  /** Works until `signal` aborts, then finishes what is in flight. Database faults are logged and outlived. */
  run(signal: AbortSignal): Promise<void>;
}

interface Claim {
  readonly id: string;
  readonly partnerId: string;
  readonly tries: number;
  readonly loan: LoanState;
}

/** Makes the worker; any number of them, anywhere, share the work. */
export function registrationWorker(deps: RegistrationWorkerDeps): RegistrationWorker {
  const inFlight = new Set<Promise<void>>();

  /** Claims into the free slots; what was claimed goes on by itself. */
  async function start(): Promise<{ readonly tasks: readonly Promise<void>[] }> {
    const claims = await claim(deps, MAX_IN_FLIGHT - inFlight.size);
    const tasks = claims.map((claimed) => {
      const task = work(deps, claimed).finally(() => inFlight.delete(task));
      inFlight.add(task);
      return task;
    });
    return { tasks };
  }

  async function tick(): Promise<number> {
    const { tasks } = await start();
    await Promise.all(tasks);
    return tasks.length;
  }

  async function run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await start();
      } catch (error) {
        logFailedTry(deps.log, error, 'could not claim registrations');
      }
      if (inFlight.size >= MAX_IN_FLIGHT) await Promise.race(inFlight);
      else await sleep(IDLE_POLL_MS, undefined, { signal }).catch(() => undefined);
    }
    await Promise.all(inFlight);
  }

  return { tick, run };
}

async function claim({ pool, leaseMs = LEASE_MS }: RegistrationWorkerDeps, limit: number): Promise<readonly Claim[]> {
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
      from due, loans l
      where r.id = due.id and l.id = r.loan_id
      returning r.id, r.partner_id as "partnerId", r.tries, l.state as loan`,
  );
}

/** Never throws: whatever goes wrong, the lease brings the registration back. */
async function work(deps: RegistrationWorkerDeps, claimed: Claim): Promise<void> {
  const fields = { registrationId: claimed.id, loanId: claimed.loan.id, tries: claimed.tries };
  try {
    const answer = await ask(deps, claimed);
    if ('unanswered' in answer) {
      deps.log.warn({ ...fields, error: nameOf(answer.unanswered) }, 'the registry did not answer; asking again later');
      await postpone(deps.pool, claimed);
      return;
    }
    const recorded = await recordRegistration(
      deps.pool,
      { partnerId: claimed.partnerId, actor: ACTOR, requestId: null },
      {
        loanId: claimed.loan.id,
        registrationId: claimed.id,
        answer,
        documentsDeadlineDays: deps.documentsDeadlineDays,
      },
    );
    if ('ok' in recorded) {
      deps.log.info({ ...fields, outcome: answer.outcome }, 'registration ended');
      return;
    }
    await deps.pool.transaction((tx) => closeSuperseded(tx, claimed.loan.id, claimed.id));
    deps.log.warn({ ...fields, outcome: answer.outcome }, 'the registration had ended already');
  } catch (error) {
    deps.log.warn({ ...fields, error: nameOf(error) }, 'could not record a registration; its lease brings it back');
  }
}

async function ask(
  { registry, callTimeoutMs = CALL_TIMEOUT_MS }: RegistrationWorkerDeps,
  { id, loan }: Claim,
): Promise<RegistrationAnswer | { readonly unanswered: unknown }> {
  const request = {
    registrationId: id,
    loanId: loan.id,
    number: loan.number,
    workerCpf: loan.workerCpf,
    workerEnrollment: loan.workerEnrollment,
    employerCnpj: loan.employerCnpj,
    releasedCentavos: loan.releasedCentavos,
    installments: loan.installments,
    installmentCentavos: loan.installmentCentavos,
  };
  const deadline = new AbortController();
  const { promise: expired, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    deadline.abort();
    reject(new Error(`no answer from the registry in ${callTimeoutMs} ms`));
  }, callTimeoutMs);
  try {
    return await Promise.race([registry.register(request, deadline.signal), expired]);
  } catch (error) {
    return { unanswered: error };
  } finally {
    clearTimeout(timer);
  }
}

/** Gives the lease back early, unless somebody else has claimed the registration since. */
async function postpone(pool: Pool, { id, tries }: Claim): Promise<void> {
  const delayMs = BACKOFF_MS[Math.min(tries, BACKOFF_MS.length) - 1] ?? 0;
  await pool.run(
    (tx) => tx`
      update registrations set next_try_at = now() + ${delayMs} * interval '1 millisecond'
      where id = ${id} and status = 'processando' and tries = ${tries}`,
  );
}

function nameOf(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}
