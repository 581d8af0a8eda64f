/**
 * Stores the registry's bond records: with their loan (`bond_records`), or until the loan exists (`bonds_unknown`).
 *
 * Invariant: each record is stored in one of the two tables, or returned as refused. One snapshot decides whether its loan
 * exists; the next sync finds a loan created meanwhile. The registry reports a bond once, and a core imports its past loan by
 * loan, so bonds must wait. Rows are written in the order of their references, so that two syncs never deadlock.
 */
import type { Pool } from '../../db/pool.ts';
import type { EndedBond, NewBond } from '../../registry/bonds-port.ts';

/** Records that wait for their loans: a bridge that invents loans fills no disk. */
const MAX_UNKNOWN = 100_000;

interface RefusedBond {
  readonly referencia: string;
  readonly emprestimo_id: string;
  readonly reason: string;
}

const OF_ANOTHER_PARTNER = 'the loan is of another parceiro_id';
const OF_ANOTHER_LOAN = 'the referencia is of another loan, whose record stands';
const TOO_MANY = `${MAX_UNKNOWN} records wait for loans that nobody knows`;

/** Keeps the records that are seen for the first time. Returns those that are not kept. */
export async function keepBonds(
  pool: Pool,
  kind: 'ended' | 'new',
  records: readonly (EndedBond | NewBond)[],
): Promise<readonly RefusedBond[]> {
  const reported = JSON.stringify(records);
  await pool.run(
    (sql) => sql`
      with reported as materialized (
        select t.*, l.partner_id
        from json_to_recordset(${reported}::text::json) as t (reference text, "partnerId" uuid, "loanId" uuid, data json)
        left join loans l on l.id = t."loanId"
      ),
      placed as (
        insert into bond_records (kind, reference, partner_id, loan_id, data)
        select ${kind}, reference, partner_id, "loanId", data from reported where partner_id = "partnerId"
        order by reference
        on conflict (kind, reference) do nothing
      )
      insert into bonds_unknown (kind, reference, partner_id, loan_id, data)
      select ${kind}, reference, "partnerId", "loanId", data from reported
      where partner_id is null
        and not exists (select from bond_records r where r.kind = ${kind} and r.reference = reported.reference)
        and not exists (select from bonds_unknown u where u.kind = ${kind} and u.reference = reported.reference)
      order by reference
      limit greatest(0, ${MAX_UNKNOWN} - (select count(*) from bonds_unknown))
      on conflict (kind, reference) do nothing`,
  );
  return pool.run(
    (sql) => sql<RefusedBond[]>`
      select referencia, emprestimo_id, reason
      from (
        select reported.reference as referencia, reported."loanId" as emprestimo_id,
               case when l.partner_id <> reported."partnerId" then ${OF_ANOTHER_PARTNER}
                    when coalesce(r.loan_id, u.loan_id) <> reported."loanId" then ${OF_ANOTHER_LOAN}
                    when coalesce(r.loan_id, u.loan_id) is null then ${TOO_MANY} end as reason
        from json_to_recordset(${reported}::text::json) as reported (reference text, "partnerId" uuid, "loanId" uuid)
        left join loans l on l.id = reported."loanId"
        left join bond_records r on r.kind = ${kind} and r.reference = reported.reference
        left join bonds_unknown u on u.kind = ${kind} and u.reference = reported.reference
      ) looked_at
      where reason is not null`,
  );
}

/** Takes the waiting records whose loans have come to their loans; null: of all partners. Returns those that do not go with them. */
export async function placeKnown(pool: Pool, partnerId: string | null): Promise<readonly RefusedBond[]> {
  return pool.run(
    (sql) => sql<RefusedBond[]>`
      with come as materialized (
        select u.kind, u.reference, u.partner_id, u.loan_id, u.data, l.partner_id as owner
        from bonds_unknown u join loans l on l.id = u.loan_id
        where ${partnerId}::uuid is null or u.partner_id = ${partnerId}
        order by u.kind, u.reference
        for update of u skip locked
      ),
      gone as (
        delete from bonds_unknown u using come where u.kind = come.kind and u.reference = come.reference
      ),
      placed as (
        insert into bond_records (kind, reference, partner_id, loan_id, data)
        select kind, reference, partner_id, loan_id, data from come where owner = partner_id
        on conflict (kind, reference) do nothing
      )
      select come.reference as referencia, come.loan_id as emprestimo_id,
             case when owner <> come.partner_id then ${OF_ANOTHER_PARTNER} else ${OF_ANOTHER_LOAN} end as reason
      from come left join bond_records r on r.kind = come.kind and r.reference = come.reference
      where owner <> come.partner_id or r.loan_id <> come.loan_id`,
  );
}

/** How many records wait for their loans; null: of all partners. */
export async function countUnknown(pool: Pool, partnerId: string | null): Promise<number> {
  const [{ count }] = await pool.run(
    (sql) => sql<[{ count: number }]>`
      select count(*)::int as count from bonds_unknown where ${partnerId}::uuid is null or partner_id = ${partnerId}`,
  );
  return count;
}
