/**
 * The registry of the sandbox, in PostgreSQL. It concludes every registration unless a partner set the next one to fail, and
 * has a margin for every worker and employer.
 *
 * Invariant: one registration id has one answer. The loan's next registration uses up the answer that was set, and stores its
 * own answer under its id in the same transaction. So a caller that died before it recorded the answer gets the same answer
 * again. Two calls with one id wait for each other at a lock of that id; a crash releases the lock.
 */
import { createHash } from 'node:crypto';
import type { Pool, Tx } from '../db/pool.ts';
import type { MarginRegistry, RegistrationAnswer, RegistrationRegistry, RegistrationRequest } from './port.ts';
import { answerMargin } from './simulated-margin.ts';

/** Sets the answer to the loan's next registration: a failure with `error`, or success for null. */
export async function answerNextRegistration(tx: Tx, loanId: string, error: string | null): Promise<void> {
  await tx`
    insert into simulated_registrations (loan_id, error) values (${loanId}, ${error})
    on conflict (loan_id) do update set error = excluded.error`;
}

/** A registry whose answers are in the database of `pool`. */
export function simulatedRegistry(pool: Pool): RegistrationRegistry & MarginRegistry {
  return {
    async register(request, signal) {
      signal.throwIfAborted();
      return pool.transaction((tx) => register(tx, request));
    },
    async queryMargin(question, signal) {
      signal.throwIfAborted();
      return pool.run((sql) => answerMargin(sql, question));
    },
  };
}

async function register(tx: Tx, { registrationId, loanId }: RegistrationRequest): Promise<RegistrationAnswer> {
  await tx`select pg_advisory_xact_lock(hashtextextended(${registrationId}, 0))`;
  const [given] = await tx<{ answer: RegistrationAnswer }[]>`
    select answer from simulated_answers where registration_id = ${registrationId}`;
  if (given !== undefined) return given.answer;
  const [told] = await tx<{ error: string | null }[]>`
    update simulated_registrations set error = null where loan_id = ${loanId} returning old.error`;
  const error = told?.error ?? null;
  const answer: RegistrationAnswer =
    error === null ? { outcome: 'concluded', protocol: protocolOf(registrationId) } : { outcome: 'failed', error };
  await tx`
    insert into simulated_answers (registration_id, answer)
    values (${registrationId}, ${JSON.stringify(answer)}::text::json)`;
  return answer;
}

function protocolOf(registrationId: string): string {
  return `REG-${createHash('sha256').update(registrationId).digest('hex').slice(0, 16).toUpperCase()}`;
}
