/**
 * The loan core's door over HTTP: the same use cases as the sandbox's, with an Idempotency-Key of the lender's own.
 *
 * Keys belong to whoever sends the requests. The core speaks for no partner, so its keys have one owner of their own, the
 * lender: the same key for a loan of another partner is another request (422), and never meets a partner's own key.
 */
import type { LoanResource } from '../../contract/resources/loan-resource.ts';
import type { Result } from '../../contract/refusals.ts';
import type { Pool, Tx } from '../../db/pool.ts';
import type { LoanRefusal } from '../../loan/command.ts';
import { view } from '../../loan/view.ts';
import { type Provenance, UnknownPartner } from '../../log/append.ts';
import { type Authorization, confirmAuthorization } from '../margin/authorization.ts';
import type { Handled, Transactor } from './handle-loan.ts';
import { type KeyedRequest, type KeyRefusal, type Once, once } from '../idempotency.ts';

/** Stands for the lender where a key's owner is named; no partner has this id. */
const LENDER = '00000000-0000-0000-0000-000000000000';

export type LenderRequest = Omit<KeyedRequest, 'partnerId'>;

/** An answer that a key of the lender's keeps. */
interface Kept<S extends number, B> {
  readonly status: S;
  readonly location: null;
  readonly body: B;
}

type HandledOnce = Result<Once<Kept<200, LoanResource>>, LoanRefusal | KeyRefusal>;

/** Handles one command on a loan, once for the key. */
export async function handleOnceByKey(
  pool: Pool,
  request: LenderRequest,
  handle: (within: Transactor) => Promise<Handled>,
): Promise<HandledOnce> {
  return once(pool, { ...request, partnerId: LENDER }, async (tx) => {
    const handled = await handle(inside(tx));
    if ('refused' in handled) return handled;
    return { ok: { status: 200, location: null, body: view(handled.ok) } };
  });
}

/** Confirms an authorization for a partner that the core names. */
export async function confirmFor(
  within: Transactor,
  provenance: Provenance,
  given: Parameters<typeof confirmAuthorization>[2],
): Promise<Result<Authorization, 'unknownPartner'>> {
  try {
    return { ok: await confirmAuthorization(within, provenance, given) };
  } catch (error) {
    if (!(error instanceof UnknownPartner)) throw error;
    return { refused: { kind: 'unknownPartner' } };
  }
}

/** The same, once for the key. */
export async function confirmOnceByKey(
  pool: Pool,
  request: LenderRequest,
  provenance: Provenance,
  given: Parameters<typeof confirmAuthorization>[2],
): Promise<Result<Once<Kept<201, Authorization>>, KeyRefusal | 'unknownPartner'>> {
  return once(pool, { ...request, partnerId: LENDER }, async (tx) => {
    const confirmed = await confirmFor(inside(tx), provenance, given);
    return 'refused' in confirmed ? confirmed : { ok: { status: 201, location: null, body: confirmed.ok } };
  });
}

/**
 * Transactions within `tx`: what fails, as a command that met another, is undone to its savepoint and may be tried again. A
 * refusal undoes the whole of `tx`, and so needs no savepoint.
 */
function inside(tx: Tx): Transactor {
  return {
    async transaction(work) {
      await tx`savepoint command`;
      try {
        const result = await work(tx);
        await tx`release savepoint command`;
        return result;
      } catch (error) {
        await tx`rollback to savepoint command`;
        throw error;
      }
    },
  };
}
