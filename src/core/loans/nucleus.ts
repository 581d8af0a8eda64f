/**
 * The loan core's door over HTTP: a partner's use cases, with an Idempotency-Key of the lender's own. All of the core's keys have
 * one owner, the lender: the same key for another partner's loan is 422, and never meets a partner's own key.
 */
import type { Refused, RefusalKind, Result } from '../../contract/refusals.ts';
import type { Pool } from '../../db/pool.ts';
import { inSavepoint } from '../../db/transaction.ts';
import { type Provenance, UnknownPartner } from '../../log/append.ts';
import { type Answer, type KeyRefusal, once } from '../idempotency.ts';
import type { Transactor } from './handle-loan.ts';

/** Stands for the lender where a key's owner is named; no partner has this id. */
const LENDER = '00000000-0000-0000-0000-000000000000';

/** What the lender asks, by POST; `idempotencyKey` is null in a request without a key. */
export interface LenderCall<B = unknown> {
  readonly path: string;
  readonly actor: string;
  readonly requestId: string;
  readonly idempotencyKey: string | null;
  readonly body: B;
}

/** Does what the lender asks, once for its key, or each time where there is none. */
export async function onceForLender<A extends Answer, K extends RefusalKind>(
  pool: Pool,
  { path, idempotencyKey: key, body }: Omit<LenderCall, 'actor' | 'requestId'>,
  make: (within: Transactor) => Promise<Result<A, K>>,
): Promise<A | Refused<K | KeyRefusal>> {
  if (key === null) {
    const made = await make(pool);
    return 'refused' in made ? made : made.ok;
  }
  // Transactions within `tx`: a failure is undone to its savepoint and may be tried again; a refusal undoes the whole of `tx`.
  const request = { partnerId: LENDER, operation: `POST ${path}`, key, body };
  const made = await once<A, K>(pool, request, (tx) =>
    make({ transaction: (work) => inSavepoint(tx, () => work(tx)) }),
  );
  return 'refused' in made ? made : made.ok.answer;
}

const UNKNOWN_PARTNER: Refused<'unknownPartner'> = { refused: { kind: 'unknownPartner' } };

/** What the core tells of a partner that its body names; one that has left counts. */
export async function reportOfPartner<A extends Answer, K extends RefusalKind = never>(
  pool: Pool,
  call: LenderCall<{ readonly parceiro_id: string }>,
  make: (within: Transactor, provenance: Provenance) => Promise<Result<A, K>>,
): Promise<A | Refused<K | KeyRefusal | 'unknownPartner'>> {
  const { actor, requestId, body } = call;
  return onceForLender<A, K | 'unknownPartner'>(pool, call, async (within) => {
    try {
      return await make(within, { partnerId: body.parceiro_id, actor, requestId });
    } catch (error) {
      if (!(error instanceof UnknownPartner)) throw error;
      return UNKNOWN_PARTNER;
    }
  });
}
