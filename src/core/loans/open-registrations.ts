/**
 * Registrations that our worker asks about, closed when somebody else has ended them. A core in another language talks to
 * the registry itself: its `averbacao.solicitada` makes no work for us, and its answer to a registration that we had open
 * ends that one.
 */
import type { Tx } from '../../db/pool.ts';

/** Closes the open work of these loans whose end is in the log. */
export async function closeEndedRegistrations(tx: Tx, loanIds: readonly string[]): Promise<void> {
  await tx`
    update registrations r
    set status = case e.type when 'averbacao.concluida' then 'concluida' else 'falhou' end, next_try_at = null
    from events e
    where r.loan_id = any (${loanIds as string[]}::uuid[]) and r.status = 'processando'
      and e.stream = r.loan_id and e.type in ('averbacao.concluida', 'averbacao.falhou')
      and e.data ->> 'averbacao_id' = r.id::text`;
}

/**
 * Closes what is open of a loan that says nothing of ours is under way: another core has asked or ended since. `only`: this
 * registration; null: each.
 */
export async function closeSuperseded(tx: Tx, loanId: string, only: string | null): Promise<void> {
  await closeEndedRegistrations(tx, [loanId]);
  await tx`
    update registrations set status = 'falhou', next_try_at = null
    where loan_id = ${loanId} and status = 'processando' and (${only}::uuid is null or id = ${only})`;
}
