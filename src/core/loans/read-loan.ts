/** Reading a loan back, now or as it was. What the projection has not seen is folded here, so no reader is behind a webhook. */
import type { RegistrationProgress } from '../../contract/resources/loan-resource.ts';
import { id as idSchema } from '../../contract/values.ts';
import type { Pool, Tx } from '../../db/pool.ts';
import { fold } from '../../loan/evolve.ts';
import type { LoanState } from '../../loan/state.ts';
import { viewRegistration } from '../../loan/view.ts';
import { readStream, type RecordedEvent } from '../../log/read.ts';
import { foldLoan, type OwnedLoan, project } from './loan-projection.ts';

/**
 * The partner's loan (null: anybody's) now, or right after its event number `version` (at least 1; history before a first append is
 * in each). Null for an unknown id, another partner's loan, and a version not reached.
 */
export async function readLoan(
  pool: Pool,
  partnerId: string | null,
  loanId: string,
  version?: number,
): Promise<LoanState | null> {
  if (!idSchema.safeParse(loanId).success) return null;
  const found = await pool.run((sql) => readNow(sql, loanId));
  if (found === null) return null;
  // Not needed for this answer, nor for the next: where it cannot be written, as on a standby, each read folds anew.
  if (found.isUnseen) await pool.run((sql) => project(sql, [found.loan])).catch(() => undefined);
  const { loan } = found;
  if (partnerId !== null && loan.partnerId !== partnerId) return null;
  if (version === undefined || version === loan.state.version) return loan.state;
  return version > loan.state.version ? null : fold(await pool.run((sql) => readStream(sql, loanId, version)));
}

interface LoanRow {
  readonly ownerId: string | null;
  readonly state: LoanState | null;
  /** An event that the row has not seen; null beside a row that has seen all. */
  readonly event: number | null;
}

async function readNow(sql: Tx, loanId: string): Promise<{ loan: OwnedLoan; isUnseen: boolean } | null> {
  const rows = await sql<(LoanRow & RecordedEvent)[]>`
    select l.partner_id as "ownerId", l.state, e.version as event,
           e.type, e.data, e.version, e.partner_id as "partnerId", e.occurred_at as "occurredAt"
    from (select 1) one
    left join loans l on l.id = ${loanId}
    left join facts e on e.stream = ${loanId} and (l.id is null or e.version > l.version)
    where case when l.away_digest is not null and l.is_leaving is null then refuse_away(l.id) else true end
    order by e.version`;
  const { ownerId = null, state = null } = rows[0] ?? {};
  const unseen = rows.filter(({ event }) => event !== null);
  const isUnseen = unseen.length > 0;
  if (ownerId === null || state === null) {
    const loan = foldLoan(loanId, unseen);
    return loan === null ? null : { loan, isUnseen };
  }
  return { loan: { partnerId: ownerId, state: fold(unseen, state) ?? state }, isUnseen };
}

/** The loan's latest registration; null without one. One that the lender's core asked for has no tries of ours. */
export async function readRegistration(
  pool: Pool,
  partnerId: string,
  loanId: string,
): Promise<RegistrationProgress | null> {
  const state = await readLoan(pool, partnerId, loanId);
  const registration = state === null ? null : viewRegistration(state);
  if (registration === null) return null;
  const [work] = await pool.run(
    (sql) => sql<{ tries: number; lastAnswer: string | null; next: Date | null }[]>`
      select tries, last_answer as "lastAnswer", case when status = 'processando' and isfinite(next_try_at) then greatest(next_try_at, now()) end as next
      from registrations where id = ${registration.id}`,
  );
  return {
    ...registration,
    tentativas: work?.tries ?? 0,
    ultima_resposta: work?.lastAnswer ?? null,
    proxima_tentativa_em: work?.next?.toISOString() ?? null,
  };
}
