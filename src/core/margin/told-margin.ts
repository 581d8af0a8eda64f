/** A margin query that the lender's core made of the registry itself: kept and told as one of ours (margin.ts). */
import type { Tx } from '../../db/pool.ts';
import { append, type Provenance } from '../../log/append.ts';
import { newStream } from '../../log/read.ts';
import { factOf, keepQuery } from './margin.ts';
import type { Landing, MarginFailure, MarginKey, MarginQuery } from './margin-flight.ts';

/** What the registry answered: the amounts, or why there are none. */
export type ToldMargin = Pick<MarginQuery, 'earningsCentavos' | 'marginCentavos'> | { readonly failure: MarginFailure };

/** Records the answer with its event; the query's id. */
export async function tellMargin(
  tx: Tx,
  provenance: Provenance,
  worker: Omit<MarginKey, 'partnerId'>,
  told: ToldMargin,
): Promise<string> {
  const key = { ...worker, partnerId: provenance.partnerId };
  const { id, now } = await newStream(tx);
  const landing: Landing = 'failure' in told ? told : { query: { id, ...told, queriedAt: now } };
  await append(tx, { ...provenance, stream: id, expectedVersion: 0, facts: [factOf(key, landing)], occurredAt: now });
  if ('query' in landing) await keepQuery(tx, key, landing.query);
  return id;
}
