/** Finds a worker's loans and events by the keyed digest of the CPF. */
import { addMonths, dayOf } from '../../contract/calendar.ts';
import type { LoanStatus } from '../../contract/statuses.ts';
import type { Tx } from '../../db/pool.ts';
import type { LoanState } from '../../loan/state.ts';
import { digestOf, type WorkerKey } from './worker-key.ts';

interface WorkerLoan {
  readonly id: string;
  readonly partnerId: string;
  readonly number: string;
  readonly status: LoanStatus;
  /** Null while it is open. */
  readonly endedOn: string | null;
  /** The first day on which nothing of the loan's own stands against an order to erase; null while it is open. */
  readonly mayBeErasedFrom: string | null;
}

/** The worker's loans and events, and others' (`isOwn` false) whose texts have the CPF. `years`: how long the law has data kept. */
export async function findWorker(tx: Tx, key: WorkerKey, cpf: string, years: number) {
  const events = await tx<{ id: string; isOwn: boolean }[]>`
    with found as materialized (
      select event_id, stream, is_own from events_of_worker(${digestOf(key, cpf)})
    )
    select e.id, e.stream = any (array(select stream from found where is_own)) as "isOwn"
    from events e
    where e.salt is not null
      and (select refuse_away(id) from loans where id = any (array(select stream from found)) and away_digest is not null limit 1) is null
      and (e.stream = any (array(select stream from found where is_own)) or e.id = any (array(select event_id from found)))
    order by e.id`;
  const rows = await tx<{ partnerId: string; state: LoanState; settled: number; now: Date }[]>`
    select l.partner_id as "partnerId", l.state, clock_timestamp() as now,
           (select count(*)::int from settled_installments i where i.loan_id = l.id and i.partner_id = l.partner_id) as settled
    from loans l
    where l.id = any (array(select stream from worker_events where digest = ${digestOf(key, cpf)} and is_own))
      and l.state ->> 'workerCpf' = ${cpf}
    order by l.id`;
  const loans = rows.map(({ partnerId, state, settled, now }): WorkerLoan => {
    const endedOn = endOf(state, settled, dayOf(now));
    const mayBeErasedFrom = endedOn && addMonths(endedOn, years * 12);
    return { id: state.id, partnerId, number: state.number, status: state.status, endedOn, mayBeErasedFrom };
  });
  return { events, loans };
}

/**
 * The day of São Paulo on which the loan ended; null while it is open. A disbursed loan is open until its last installment's month is over
 * and closed batches have counted every installment: `settled` is how many they have.
 */
function endOf(state: LoanState, settled: number, today: string): string | null {
  if (state.transferOpen) return null;
  switch (state.status) {
    case 'cancelada':
    case 'encerrada_desligamento':
      return dayOf(new Date(state.updatedAt));
    case 'desembolsada': {
      const after = addMonths(`${(state.disbursedOn ?? today).slice(0, 7)}-01`, state.installments + 1);
      return settled < state.installments || today < after ? null : after;
    }
    case 'emitindo':
    case 'em_assinatura':
    case 'aguardando_averbacao':
    case 'averbada':
      return null;
    default:
      return state.status satisfies never;
  }
}
