/**
 * The bonds of the sandbox's registry, in PostgreSQL. A row's id is its reference. `known_at` is when the row was written, by
 * the database's clock, so it may be slightly before the commit; the overlap of the windows covers such rows too.
 */
import type { Pool, Tx } from '../db/pool.ts';
import type { BondQuery, BondRegistry, EndedBond, EndOfBond, NewBond, Rehire } from './bonds-port.ts';

const PAGE = 1_000;

interface Told {
  readonly partnerId: string;
  readonly loanId: string;
}

/** The registry learns that the worker's bond ended; returns the record's reference. */
export async function tellEndOfBond(tx: Tx, { partnerId, loanId }: Told, data: EndOfBond): Promise<string> {
  return tell(tx, 'ended', partnerId, loanId, data);
}

/** The registry learns that the worker was hired again; returns the record's reference. */
export async function tellRehire(tx: Tx, { partnerId, loanId }: Told, data: Rehire): Promise<string> {
  return tell(tx, 'new', partnerId, loanId, data);
}

async function tell(tx: Tx, kind: string, partnerId: string, loanId: string, data: object): Promise<string> {
  const [row] = await tx<[{ id: string }]>`
    insert into simulated_bonds (kind, partner_id, loan_id, data)
    values (${kind}, ${partnerId}, ${loanId}, ${JSON.stringify(data)}::text::json)
    returning id`;
  return row.id;
}

/** A registry that answers from the database of `pool`. */
export function simulatedBonds(pool: Pool): BondRegistry {
  return {
    endedBonds: (query, signal) => pages<EndedBond>(pool, 'ended', query, signal),
    newBonds: (query, signal) => pages<NewBond>(pool, 'new', query, signal),
  };
}

async function* pages<B extends EndedBond | NewBond>(
  pool: Pool,
  kind: 'ended' | 'new',
  { partnerId, from, until }: BondQuery,
  signal: AbortSignal,
): AsyncGenerator<B[]> {
  let after = { knownAt: '-infinity', reference: '00000000-0000-0000-0000-000000000000' };
  for (;;) {
    signal.throwIfAborted();
    // The cursor's time travels as text: a Date would lose the microseconds.
    const rows = await pool.run(
      (sql) => sql<(B & { knownAt: string })[]>`
        select id as reference, partner_id as "partnerId", loan_id as "loanId", data, known_at::text as "knownAt"
        from simulated_bonds
        where kind = ${kind} and known_at >= ${from} and known_at < ${until}
          and (${partnerId}::uuid is null or partner_id = ${partnerId})
          and (known_at, id) > (${after.knownAt}::text::timestamptz, ${after.reference}::uuid)
        order by known_at, id
        limit ${PAGE}`,
    );
    const last = rows.at(-1);
    if (last === undefined) return;
    after = last;
    yield rows;
  }
}
