/**
 * The loan core's door over HTTP: the same use cases as the sandbox's, with an Idempotency-Key of the lender's own.
 *
 * Keys belong to whoever sends the requests. The core speaks for no partner, so its keys have one owner of their own, the
 * lender: the same key for a loan of another partner is another request (422), and never meets a partner's own key.
 */
import type { LoanResource } from '../contract/loan-resource.ts';
import type { Pool, Tx } from '../db/pool.ts';
import { view } from '../loan/view.ts';
import type { Provenance } from '../log/append.ts';
import { type Authorization, confirmAuthorization } from './authorization.ts';
import type { Handled, Transactor } from './handle-loan.ts';
import { type KeyedRequest, type Once, once } from './idempotency.ts';

/** Stands for the lender where a key's owner is named; no partner has this id. */
const LENDER = '00000000-0000-0000-0000-000000000000';

type NotHandled = Exclude<Handled, { readonly ok: true }>;
export type LenderRequest = Omit<KeyedRequest, 'partnerId'>;

/** Handles one command on a loan, once for the key. */
export async function handleOnceByKey(
  pool: Pool,
  request: LenderRequest,
  handle: (within: Transactor) => Promise<Handled>,
): Promise<Once<LoanResource, NotHandled>> {
  return once<LoanResource, NotHandled>(pool, { ...request, partnerId: LENDER }, async (tx) => {
    const handled = await handle(inside(tx));
    if (!('ok' in handled)) return { refused: handled };
    return { status: 200, location: null, body: view(handled.state) };
  });
}

/** Confirms an authorization, once for the key. */
export async function confirmOnceByKey(
  pool: Pool,
  request: LenderRequest,
  provenance: Provenance,
  given: Parameters<typeof confirmAuthorization>[2],
): Promise<Once<Authorization, never>> {
  return once<Authorization>(pool, { ...request, partnerId: LENDER }, async (tx) => ({
    status: 201,
    location: null,
    body: await confirmAuthorization(inside(tx), provenance, given),
  }));
}

/** Transactions within `tx`: what fails, as a command that met another, is undone to its savepoint and may be tried again. */
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
