/**
 * The registry of the sandbox, in PostgreSQL: it concludes every registration, unless it was told to fail the next one.
 *
 * Invariant: one registration id has one answer. What was told is used up by the first registration of that loan that
 * asks after it, and the answer is kept in the same transaction under its id (an idempotency key of the registry's own),
 * so a caller that died before recording the answer is given the same one again.
 */
import { createHash } from 'node:crypto';
import type { Pool, Tx } from '../db/pool.ts';
import type { RegistrationAnswer, RegistrationRegistry, RegistrationRequest } from './port.ts';

const OPERATION = 'simulated-registry.register';

/** What the simulated registry answers to the loan's next registration: a failure with `error`, or success for null. */
export async function answerNextRegistration(tx: Tx, loanId: string, error: string | null): Promise<void> {
  await tx`
    insert into simulated_registrations (loan_id, error) values (${loanId}, ${error})
    on conflict (loan_id) do update set error = excluded.error`;
}

/** A registry whose answers are in the database of `pool`. */
export function simulatedRegistry(pool: Pool): RegistrationRegistry {
  return { register: (request) => pool.transaction((tx) => register(tx, request)) };
}

async function register(tx: Tx, { registrationId, loanId }: RegistrationRequest): Promise<RegistrationAnswer> {
  const digest = createHash('sha256').update(registrationId).digest();
  const taken = await tx`
    insert into idempotency_keys (partner_id, operation, key, request_hash)
    select partner_id, ${OPERATION}, ${registrationId}, ${digest} from loans where id = ${loanId}
    on conflict (partner_id, operation, key) do nothing
    returning key`;
  if (taken.length === 0) return recall(tx, registrationId, loanId);
  const [told] = await tx<{ error: string | null }[]>`
    update simulated_registrations set error = null where loan_id = ${loanId} returning old.error`;
  const error = told?.error ?? null;
  const answer: RegistrationAnswer =
    error === null ? { outcome: 'concluded', protocol: protocolOf(digest) } : { outcome: 'failed', error };
  await tx`
    update idempotency_keys set status = 200, body = ${JSON.stringify(answer)}::text::json
    where operation = ${OPERATION} and key = ${registrationId}
      and partner_id = (select partner_id from loans where id = ${loanId})`;
  return answer;
}

async function recall(tx: Tx, registrationId: string, loanId: string): Promise<RegistrationAnswer> {
  const [row] = await tx<{ body: RegistrationAnswer }[]>`
    select k.body
    from idempotency_keys k join loans l on l.partner_id = k.partner_id
    where l.id = ${loanId} and k.operation = ${OPERATION} and k.key = ${registrationId}`;
  if (row === undefined) throw new Error(`the simulated registry knows no loan ${loanId}`);
  return row.body;
}

function protocolOf(digest: Buffer): string {
  return `REG-${digest.toString('hex', 0, 8).toUpperCase()}`;
}
