/** A margin query that the lender's core made of the registry itself: kept and told as one of ours (margin.ts). */
import { type Result, taken } from '../../contract/refusals.ts';
import type { Tx } from '../../db/pool.ts';
import { append, type Provenance } from '../../log/append.ts';
import { isStream, newStream } from '../../log/read.ts';
import { factOf, keepQuery } from './margin.ts';
import type { Landing, MarginFailure, MarginKey, MarginQuery } from './margin-flight.ts';

/** What the registry answered: the amounts, or why there are none. */
export type ToldMargin = Pick<MarginQuery, 'earningsCentavos' | 'marginCentavos'> | { readonly failure: MarginFailure };

/** Records the answer with its event, under the core's own id where it has one; the query's id. */
export async function tellMargin(
  tx: Tx,
  provenance: Provenance,
  worker: Omit<MarginKey, 'partnerId'>,
  told: ToldMargin,
  ownId: string | undefined,
): Promise<Result<string, 'taken'>> {
  const key = { ...worker, partnerId: provenance.partnerId };
  const { id: newId, now } = await newStream(tx);
  if (ownId !== undefined && (await isStream(tx, ownId))) return taken('consulta_margem_id', ownId);
  const id = ownId ?? newId;
  const landing: Landing = 'failure' in told ? told : { query: { id, ...told, queriedAt: now } };
  await append(tx, { ...provenance, stream: id, expectedVersion: 0, facts: [factOf(key, landing)], occurredAt: now });
  if ('query' in landing) await keepQuery(tx, key, landing.query);
  return { ok: id };
}
