/** Registration (averbação) as the partner asks it and as its end is recorded; the asking itself is the worker's. */
import type { Pool, Tx } from '../../db/pool.ts';
import { addDays, dayOf } from '../../contract/calendar.ts';
import { taken } from '../../contract/refusals.ts';
import type { Provenance } from '../../log/append.ts';
import { type RegistrationAnswer, RegistryFailure } from '../../registry/port.ts';
import { type Asker, type Handled, handleLoan, type ToCommand, type Transactor } from './handle-loan.ts';
import { closeSuperseded } from './open-registrations.ts';

/** Asks for a registration: the fact, and the row that makes the worker ask the registry, in one transaction. */
export async function requestRegistration(pool: Pool, provenance: Provenance, loanId: string): Promise<Handled> {
  return handleLoan(pool, provenance, loanId, newRegistration, async (tx, { state }) => {
    if (state.registration === null) throw new Error(`loan ${loanId} asked for a registration and has none`);
    await closeSuperseded(tx, loanId, null);
    await tx`
      insert into registrations (id, loan_id, partner_id)
      values (${state.registration.id}, ${state.id}, ${provenance.partnerId})`;
  });
}

/** The lender's core has asked the registry itself, as `ownId` if it has one: the fact alone, nothing for our worker to do. */
export async function appendRegistrationRequested(
  within: Transactor,
  asker: Asker,
  loanId: string,
  ownId?: string,
): Promise<Handled> {
  const toCommand: ToCommand =
    ownId === undefined
      ? newRegistration
      : async (_now, { tx, state }) => {
          const isUnderWay = state.registration?.status === 'processando';
          if (!isUnderWay && (await isRegistration(tx, loanId, ownId))) return taken('averbacao_id', ownId);
          return { type: 'requestRegistration', registrationId: ownId };
        };
  return handleLoan(within, asker, loanId, toCommand, (tx) => closeSuperseded(tx, loanId, null));
}

const newRegistration: ToCommand = async (_now, { tx }) => {
  const [row] = await tx<[{ id: string }]>`select uuidv7() as id`;
  return { type: 'requestRegistration', registrationId: row.id };
};

/** Whether the loan had a registration of this id, whose one end could not be told again; or our worker has it for another loan. */
async function isRegistration(tx: Tx, loanId: string, id: string): Promise<boolean> {
  const [row] = await tx<[{ isKnown: boolean }]>`
    select exists (
      select from events
      where stream = ${loanId} and type in ('averbacao.solicitada', 'averbacao.concluida', 'averbacao.falhou')
        and field_of(data, 'averbacao_id') = ${id}
    ) or exists (select from registrations where id = ${id}) as "isKnown"`;
  return row.isKnown;
}

export interface RegistrationEnd {
  readonly loanId: string;
  /** Null: the current one, whatever request began it. */
  readonly registrationId: string | null;
  readonly answer: RegistrationAnswer;
  /** Days from the registration to the documents' deadline, where it opens that obligation. */
  readonly documentsDeadlineDays: number;
}

/**
 * Records the registry's answer and closes its work row. The loan refuses a second answer to one registration: of two workers, the
 * later is rejected. Throws `RegistryFailure` for a protocol that another registration has.
 */
export async function recordRegistration(within: Transactor, asker: Asker, end: RegistrationEnd): Promise<Handled> {
  const { loanId, answer, documentsDeadlineDays } = end;
  return handleLoan(
    within,
    asker,
    loanId,
    (now, { state }) => {
      const registrationId = end.registrationId ?? state.registration?.id ?? '';
      if (answer.outcome !== 'concluded') return { type: 'failRegistration', registrationId, error: answer.error };
      const documentsDeadline = addDays(dayOf(now), documentsDeadlineDays);
      return { type: 'concludeRegistration', registrationId, protocol: answer.protocol, documentsDeadline };
    },
    async (tx, { state: { registration } }) => {
      if (registration === null) throw new Error(`loan ${loanId} ended no registration`);
      await close(tx, registration.id, answer);
    },
  );
}

async function close(tx: Tx, id: string, answer: RegistrationAnswer): Promise<void> {
  const status = answer.outcome === 'concluded' ? 'concluida' : 'falhou';
  const protocol = answer.outcome === 'concluded' ? answer.protocol : null;
  try {
    await tx`update registrations set status = ${status}, next_try_at = null, protocol = ${protocol} where id = ${id}`;
  } catch (error) {
    if ((error as { constraint_name?: string }).constraint_name !== 'registrations_protocol') throw error;
    throw new RegistryFailure('the registry gave a protocolo_registry that another registration has', { cause: error });
  }
}
