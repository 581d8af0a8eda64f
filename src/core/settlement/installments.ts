/** Which installments a batch counts, and the rows that keep them as counted. One statement counts them all. */
import type { EventData } from '../../contract/events.ts';
import type { SettlementTotals } from '../../contract/resources/nucleus-resource.ts';
import { toCentavos, toReais } from '../../contract/values.ts';
import type { Tx } from '../../db/pool.ts';
import type { LoanState } from '../../loan/state.ts';

export type Settlement = EventData<'repasse.processado'>;

interface InstallmentRow {
  readonly id: string;
  readonly installments: number;
  readonly contracts: number;
  readonly totalCentavos: string;
  readonly closedAt: Date;
}

/** Makes the batch of `month`, `YYYY-MM`, and counts what falls in it; `totals` are told in place of ours. */
export async function settleMonth(
  tx: Tx,
  partnerId: string,
  month: string,
  closedAt: Date,
  totals: SettlementTotals | null,
): Promise<Settlement> {
  const [row] = await count(tx, partnerId, month, closedAt, totals);
  if (row === undefined) throw new Error(`the batch of ${month} exists already`);
  return dataOf(month, row);
}

/**
 * Keeps a batch that another core closed: with its totals, and with the installments that we count. A month's second is not kept.
 */
export async function keepSettlement(tx: Tx, partnerId: string, reported: Settlement): Promise<void> {
  await count(tx, partnerId, reported.competencia, new Date(reported.fechado_em), reported);
}

export async function readSettlement(tx: Tx, partnerId: string, month: string): Promise<Settlement | null> {
  const [row] = await tx<InstallmentRow[]>`
    select id, installments, contracts, total_centavos as "totalCentavos", closed_at as "closedAt"
    from settlements
    where partner_id = ${partnerId} and month = ${month}`;
  return row === undefined ? null : dataOf(month, row);
}

/**
 * `behind`: whose installment of the last closed month that they reach was not counted. A batch counts all of a loan's closed
 * months, so one installment of each loan decides; a subquery, which no plan turns into a scan.
 */
async function count(
  tx: Tx,
  partnerId: string,
  month: string,
  closedAt: Date,
  reported: (SettlementTotals & Partial<Settlement>) | null,
): Promise<readonly InstallmentRow[]> {
  const totalCentavos = reported === null ? null : toCentavos(reported.valor_total);
  return tx<InstallmentRow[]>`
    with disbursed as materialized (
      select id, installments, "installmentCentavos" as centavos, ${months(tx, 'disbursed_on')} as months,
             coalesce(${months(tx, 'until')}, 0) as elsewhere
      from loans
      cross join lateral json_to_record(state) as folded (installments int, "installmentCentavos" bigint)
      left join settled_elsewhere s on s.loan_id = loans.id and s.partner_id = loans.partner_id
      where loans.partner_id = ${partnerId} and status = 'desembolsada'
    ),
    closed as (
      select ${months(tx, 'month')} as months
      from settlements
      where partner_id = ${partnerId} and month < ${month}
    ),
    behind as materialized (
      select * from (
        select *, (select max(months) from closed where months <= d.months + d.installments) - d.months as last
        from disbursed d
      ) reached
      where last >= 1 and last > elsewhere - months and (
        select s.number from settled_installments s
        where s.loan_id = id and s.number = last and s.partner_id = ${partnerId}
      ) is null
    ),
    due as materialized (
      select id, ${monthsOf(month)}::int - months as number, centavos
      from disbursed
      where ${monthsOf(month)}::int - months between 1 and installments and ${monthsOf(month)}::int > elsewhere
      union all
      select id, closed.months - behind.months, centavos
      from behind join closed on closed.months - behind.months between 1 and behind.last
      where closed.months > elsewhere and (
        select s.number from settled_installments s
        where s.loan_id = behind.id and s.number = closed.months - behind.months and s.partner_id = ${partnerId}
      ) is null
    ),
    settlement as (
      insert into settlements (id, partner_id, month, installments, contracts, total_centavos, closed_at)
      select coalesce(${reported?.repasse_id ?? null}::uuid, uuidv7()), ${partnerId}, ${month},
             coalesce(${reported?.total_parcelas ?? null}::int, count(*)),
             coalesce(${reported?.numero_ccbs ?? null}::int, count(distinct id)),
             coalesce(${totalCentavos}::bigint, sum(centavos), 0), ${closedAt}
      from due
      on conflict do nothing
      returning *
    ),
    counted as (
      insert into settled_installments (partner_id, loan_id, number, settlement_id)
      select settlement.partner_id, due.id, due.number, settlement.id from due, settlement
    )
    select id, installments, contracts, total_centavos as "totalCentavos", closed_at as "closedAt" from settlement`;
}

/** How many of a loan's installments a batch has counted, here or where the loan came from. */
export async function countSettled(
  tx: Tx,
  partnerId: string,
  { id, installments, disbursedOn }: LoanState,
): Promise<number> {
  const [row] = await tx<[{ settled: number }]>`
    select (elsewhere + (select count(*) from settled_installments
                         where loan_id = ${id} and partner_id = ${partnerId} and number > elsewhere))::int as settled
    from (
      select coalesce(max(least(greatest(${months(tx, 'until')} - ${monthsOf(disbursedOn ?? '9999-12')}::int, 0), ${installments}::int)), 0)
             as elsewhere
      from settled_elsewhere
      where loan_id = ${id} and partner_id = ${partnerId}
    ) reported`;
  return row.settled;
}

/** A month or a day of that column in months counted from the year 0. */
function months(tx: Tx, column: 'disbursed_on' | 'until' | 'month') {
  return tx`(left(${tx(column)}, 4)::int * 12 + substr(${tx(column)}, 6, 2)::int)`;
}

function monthsOf(month: string): number {
  return Number(month.slice(0, 4)) * 12 + Number(month.slice(5, 7));
}

function dataOf(month: string, row: InstallmentRow): EventData<'repasse.processado'> {
  return {
    repasse_id: row.id,
    competencia: month,
    total_parcelas: row.installments,
    numero_ccbs: row.contracts,
    valor_total: toReais(Number(row.totalCentavos)),
    fechado_em: row.closedAt.toISOString(),
  };
}
