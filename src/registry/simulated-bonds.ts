/**
 * The simulated registry's bonds, in PostgreSQL. A row's id is its reference. `known_at` is the time of writing, slightly before the
 * commit; overlapping windows cover that.
 */
import { MAX_ANSWER_BYTES, MAX_BOND_PAGE } from '../contract/registry-wire.ts';
import { FIRST_ID } from '../db/first-id.ts';
import type { Tx } from '../db/pool.ts';
import type { BondQuery, EndedBond, EndOfBond, NewBond, Rehire } from './bonds-port.ts';

/** The most bytes of a record's keys and ids on the wire, and of the page around its records. */
const RECORD_BYTES = 300;
const PAGE_BYTES = MAX_ANSWER_BYTES - 1_024;

interface Reported {
  readonly partnerId: string;
  readonly loanId: string;
}

export const reportEndOfBond = (tx: Tx, of: Reported, data: EndOfBond) => report(tx, 'ended', of, data);
export const reportRehire = (tx: Tx, of: Reported, data: Rehire) => report(tx, 'new', of, data);

async function report(tx: Tx, kind: string, { partnerId, loanId }: Reported, data: object): Promise<string> {
  const [row] = await tx<[{ id: string }]>`
    insert into simulated_bonds (kind, partner_id, loan_id, data)
    values (${kind}, ${partnerId}, ${loanId}, ${JSON.stringify(data)}::text::json)
    returning id`;
  return row.id;
}

export interface SimulatedPage<B> {
  readonly records: readonly B[];
  /** The reference of the last record; null on the last page. */
  readonly next: string | null;
}

/** One page of the window's records of one kind, within an answer's size limit, behind the record `after`; of an unknown one, the first. */
export async function readSimulatedBonds<B extends EndedBond | NewBond>(
  tx: Tx,
  kind: 'ended' | 'new',
  { partnerId, from, until }: Omit<BondQuery, 'onMisshapen'>,
  after = FIRST_ID,
): Promise<SimulatedPage<B>> {
  const rows = await tx<(B & { readonly isOver: boolean })[]>`
    with found as (
      select * from simulated_bonds
      where kind = ${kind} and known_at >= ${from} and known_at < ${until}
        and (${partnerId}::uuid is null or partner_id = ${partnerId})
        and (known_at, id) > (coalesce((select known_at from simulated_bonds where id = ${after}), '-infinity'), ${after}::uuid)
      order by known_at, id
      limit ${MAX_BOND_PAGE + 1}
    )
    select id as reference, partner_id as "partnerId", loan_id as "loanId", data,
           sum(octet_length(data::text) + ${RECORD_BYTES}::int) over before > ${PAGE_BYTES}::int
             or row_number() over before > ${MAX_BOND_PAGE}::int as "isOver"
    from found
    window before as (order by known_at, id)
    order by known_at, id`;
  const end = rows.findIndex(({ isOver }, index) => isOver && index > 0);
  const records = end === -1 ? rows : rows.slice(0, end);
  return { records, next: end === -1 ? null : (records.at(-1)?.reference ?? null) };
}
