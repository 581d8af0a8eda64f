/**
 * Closes our worker's open registrations once an `averbacao.concluida` or `averbacao.falhou` of a core in another language is in.
 */
import type { Tx } from '../../db/pool.ts';
import type { RegistrationAnswer } from '../../registry/port.ts';

/** Closes the open work of these loans whose end is in the log. */
export async function closeEndedRegistrations(tx: Tx, loanIds: readonly string[]): Promise<void> {
  await tx`
    update registrations r
    set status = case e.type when 'averbacao.concluida' then 'concluida' else 'falhou' end, next_try_at = null
    from events e
    where r.loan_id = any (${loanIds as string[]}::uuid[]) and r.status = 'processando'
      and e.stream = r.loan_id and e.type in ('averbacao.concluida', 'averbacao.falhou')
      and field_of(e.data, 'averbacao_id') = r.id::text`;
}

/** Closes our open registrations that the loan's state lacks: another core asked or ended since. `only`: this one; null: each. */
export async function closeSuperseded(tx: Tx, loanId: string, only: string | null): Promise<void> {
  await closeEndedRegistrations(tx, [loanId]);
  await tx`
    update registrations set status = 'falhou', next_try_at = null
    where loan_id = ${loanId} and status = 'processando' and (${only}::uuid is null or id = ${only})`;
}

/** How a registration had ended before the registry's answer came; `endedBy` is null where a later one took its place. */
export interface Lost {
  readonly endedAs: string | null;
  readonly endedBy: string | null;
  /** True: the loan says otherwise than the registry. The row keeps the answer for a person to see to. */
  readonly contradicts: boolean;
}

/** Closes a registration whose answer came too late, and returns the end that the loan has instead. */
export async function closeLost(
  tx: Tx,
  late: { readonly loanId: string; readonly registrationId: string; readonly answer: RegistrationAnswer },
): Promise<Lost> {
  const { loanId, registrationId, answer } = late;
  await closeSuperseded(tx, loanId, registrationId);
  const [end] = await tx<{ type: string; actor: string; protocol: string | null }[]>`
    select type, actor, field_of(data, 'protocolo_registry') as protocol
    from events
    where stream = ${loanId} and type in ('averbacao.concluida', 'averbacao.falhou')
      and field_of(data, 'averbacao_id') = ${registrationId}`;
  const protocol = answer.outcome === 'concluded' ? answer.protocol : null;
  // A failure contradicts a failure in nothing; a conclusion is the same under one protocol alone.
  const contradicts = end === undefined ? protocol !== null : end.protocol !== protocol;
  if (contradicts) {
    await tx`
      update registrations set contradiction = ${JSON.stringify(answer)}::text::json where id = ${registrationId}`;
  }
  return { endedAs: end?.type ?? null, endedBy: end?.actor ?? null, contradicts };
}
