/**
 * Named mutants: each breaks one safety rule of the engine in a copy of the sources. `find` must be there exactly once,
 * or the mutant no longer applies and must be written anew; `finds` is what its check says of it.
 */
import type { CheckName } from './checks.ts';

export interface Mutant {
  readonly name: string;
  /** In src/delivery. */
  readonly file: string;
  readonly find: string;
  readonly put: string;
  readonly check: CheckName;
  readonly finds: RegExp;
}

const differential = 'differential' as const;

export const MUTANTS: readonly Mutant[] = [
  {
    name: 'the fence is removed: a stale failure moves the delivery',
    file: 'record.ts',
    find: 'where d.id = r.id and d.attempts = r.number and d.claimed_by = r.claim',
    put: 'where d.id = r.id',
    check: differential,
    finds: /./,
  },
  {
    name: 'a lease is shorter than the deadline',
    file: 'lease.ts',
    find: 'LEASE_S = 45',
    put: 'LEASE_S = 25',
    check: differential,
    finds: /next_attempt_at/,
  },
  {
    name: 'the schedule is off by one',
    file: 'record.ts',
    find: '[d.failures + 1]',
    put: '[d.failures + 2]',
    check: differential,
    finds: /next_attempt_at|due_iff_pending/,
  },
  {
    name: 'the schedule counts from the start of the attempt',
    file: 'record.ts',
    find: 'r.ended_at + (',
    put: 'r.started_at + (',
    check: differential,
    finds: /next_attempt_at/,
  },
  {
    name: 'a late 2xx is dropped',
    file: 'record.ts',
    find: "status <> 'entregue'`",
    put: "status = 'nunca'`",
    check: differential,
    finds: /status is \w+, must be entregue/,
  },
  {
    name: 'a late 2xx forgets the attempt under way',
    file: 'record.ts',
    find: 'await logLostAttempts(tx, delivered);',
    put: '',
    check: differential,
    finds: /attempt rows/,
  },
  {
    name: 'a repeated flush is taken for a late report',
    file: 'record.ts',
    find: "and written.outcome <> 'desconhecido'",
    put: 'and false',
    check: differential,
    finds: /taken for late|attempt rows/,
  },
  {
    name: 'an outcome does not end the row of lost attempts',
    file: 'record.ts',
    find: 'lost_in_row = 0,\n          claimed_by',
    put: 'claimed_by',
    check: differential,
    finds: /lost_in_row/,
  },
  {
    name: 'a lane is not re-armed for the next retry',
    file: 'lanes.ts',
    find: 'else state.next_due\n',
    put: 'else null\n',
    check: differential,
    finds: /lane sleeps/,
  },
  {
    name: 'a saturated lane is not woken by a record',
    file: 'lanes.ts',
    find: '(${ids}::uuid[]) and saturated`',
    put: '(${ids}::uuid[]) and not saturated`',
    check: differential,
    finds: /lane sleeps/,
  },
  {
    name: 'an arrival does not bring its lane forward',
    file: 'lanes.ts',
    find: 'least(lanes.next_due_at, excluded.next_due_at)',
    put: 'greatest(lanes.next_due_at, excluded.next_due_at)',
    check: differential,
    finds: /lane sleeps/,
  },
  {
    name: 'who makes a delivery due earlier wakes nobody',
    file: 'lanes.ts',
    find: 'if (webhookIds.length === 0) return;',
    put: 'if (webhookIds.length >= 0) return;',
    check: differential,
    finds: /lane sleeps/,
  },
  {
    name: 'a takeover writes no row for the lost attempt',
    file: 'lost.ts',
    find: 'd.claimed_by\n    from deliveries d',
    put: 'd.claimed_by\n    from (select * from deliveries limit 0) d',
    check: differential,
    finds: /attempt rows/,
  },
  {
    name: 'lost attempts are never counted',
    file: 'claim.ts',
    find: '+ (d.claimed_by is not null)::int',
    put: '',
    check: differential,
    finds: /lost_in_row/,
  },
  {
    name: 'the sixth lost attempt books the failure instead of the fifth',
    file: 'lease.ts',
    find: 'LOST_IN_ROW_BOOKS_FAILURE = 5',
    put: 'LOST_IN_ROW_BOOKS_FAILURE = 6',
    check: 'only losses',
    finds: /sent and must not|lost_in_row/,
  },
  {
    name: 'booked failures never end in erro',
    file: 'lost.ts',
    find: "status = case when step.delay_s is null then 'erro' else 'pendente' end",
    put: "status = 'pendente'",
    check: 'only losses',
    finds: /deliveries_|status/,
  },
  {
    name: 'a delivery is claimed before it is due',
    file: 'claim.ts',
    find: "d.status = 'pendente' and d.next_attempt_at <= clock.now\n",
    put: "d.status = 'pendente' and d.next_attempt_at <= clock.now + interval '5 seconds'\n",
    check: differential,
    finds: /not due/,
  },
  {
    name: 'the cap is not kept',
    file: 'claim.ts',
    find: 'least(l.cap - flying.n, ${share}::int)',
    put: 'least(l.cap, ${share}::int)',
    check: differential,
    finds: /over the cap/,
  },
  {
    name: 'a deactivated registration is still sent to',
    file: 'lanes.ts',
    find: 'coalesce(w.active, false) as active',
    put: 'true as active',
    check: differential,
    finds: /sent and must not/,
  },
  {
    name: 'a release spends the attempt’s number',
    file: 'release.ts',
    find: 'attempts = d.attempts - 1, ',
    put: '',
    check: differential,
    finds: /attempts is/,
  },
  {
    name: 'a release ends the claim of whoever took over',
    file: 'release.ts',
    find: '(${deliveryIds as string[]}::uuid[]) and claimed_by = ${claim}',
    put: "(${deliveryIds as string[]}::uuid[]) and claimed_by is distinct from (${claim} || '?') and claimed_by is not null",
    check: differential,
    finds: /attempts is|status is|claimed_by is/,
  },
  {
    name: 'lanes are not locked by the claim that serves them',
    file: 'lanes.ts',
    find: 'for update of l skip locked',
    put: '',
    check: 'concurrent claims',
    finds: /over overlapping claims/,
  },
  {
    name: 'a send starts although the lease may end under it',
    file: 'lease.ts',
    find: 'MIN_LEASE_LEFT_MS = 31_000',
    put: 'MIN_LEASE_LEFT_MS = 1_000',
    check: 'short lease',
    finds: /less of the lease left/,
  },
  {
    name: 'a claim whose commit is unknown is forgotten',
    file: 'poller.ts',
    find: 'this.#doubtful.push(claim.name);',
    put: '',
    check: 'unknown commit',
    finds: /wait for the lease/,
  },
  {
    name: 'a report is dropped when the database is away',
    file: 'recorder.ts',
    find: 'if (!isUnavailable(error) && !isContention(error)) throw error;',
    put: 'throw error;',
    check: 'outage',
    finds: /dropped|attempt rows|not entregue/,
  },
];
