/**
 * The simulated registry's registrations, in PostgreSQL. All succeed unless a partner set a loan's next one to fail.
 * Invariant: one registration id has one answer. The loan's next registration uses up the set answer and stores its own under its id in the
 * same transaction, so a caller that died before recording it gets it again. Two calls with one id queue on a lock of that id; a crash
 * releases it.
 */
import { createHash } from 'node:crypto';
import type { Tx } from '../db/pool.ts';
import type { Pending, RegistrationAnswer } from './port.ts';

/** Sets the answer to the loan's next registration: a failure with `error`, or success for null. */
export async function answerNextRegistration(tx: Tx, loanId: string, error: string | null): Promise<void> {
  await tx`
    insert into simulated_registrations (loan_id, error) values (${loanId}, ${error})
    on conflict (loan_id) do update set error = excluded.error`;
}

/** Made at the first call; pending for `workS` seconds from then. */
export async function simulateRegistration(
  tx: Tx,
  { registrationId, loanId }: Readonly<Record<'registrationId' | 'loanId', string>>,
  workS: number,
): Promise<RegistrationAnswer | Pending> {
  await tx`select pg_advisory_xact_lock(hashtextextended(${registrationId}, 0))`;
  const given = await readSimulated(tx, registrationId);
  if (given !== null) return given;
  const [reported] = await tx<{ error: string | null }[]>`
    update simulated_registrations set error = null where loan_id = ${loanId} returning old.error`;
  const error = reported?.error ?? null;
  const answer: RegistrationAnswer =
    error === null ? { outcome: 'concluded', protocol: protocolOf(registrationId) } : { outcome: 'failed', error };
  await tx`
    insert into simulated_answers (registration_id, answer, ready_at)
    values (${registrationId}, ${JSON.stringify(answer)}::text::json, clock_timestamp() + ${workS} * interval '1 second')`;
  return workS > 0 ? { outcome: 'pending', askAgainMs: workS * 1_000 } : answer;
}

/** Null: never asked. */
export async function readSimulated(tx: Tx, registrationId: string): Promise<RegistrationAnswer | Pending | null> {
  const [row] = await tx<{ answer: RegistrationAnswer; leftMs: number }[]>`
    select answer, extract(epoch from ready_at - clock_timestamp())::float8 * 1000 as "leftMs"
    from simulated_answers where registration_id = ${registrationId}`;
  if (row === undefined) return null;
  return row.leftMs > 0 ? { outcome: 'pending', askAgainMs: row.leftMs } : row.answer;
}

function protocolOf(registrationId: string): string {
  return `REG-${createHash('sha256').update(registrationId).digest('hex').slice(0, 16).toUpperCase()}`;
}
