/**
 * The monthly batch (repasse): closed once for each partner and month, after the month is over in America/Sao_Paulo.
 *
 * Invariant: the batch, the installments it counted and repasse.processado commit together, and no installment is
 * counted twice. Closings of one partner queue on its row, so of two machines the later finds the batch of the earlier;
 * a crash leaves nothing. Rehires hold the same row while they read what is settled (bond-detection.ts).
 * Installment k falls in the month of `data_liberacao` + k, so a loan has one installment in a month at most. One of a
 * month that was closed before its loan was disbursed is counted by the next batch of a later month.
 * One statement counts them all.
 */
import type { EventData } from '../contract/events.ts';
import { toReais } from '../contract/values.ts';
import type { Pool, Tx } from '../db/pool.ts';
import { dayOf } from '../loan/calendar.ts';
import { append, type Provenance } from '../log/append.ts';
import { readClock } from '../log/read.ts';

/** `notOver`: the month is not over; `alreadyClosed`: nothing changed, `settlement` is what exists. */
export type Closing =
  | { readonly settlement: EventData<'repasse.processado'>; readonly alreadyClosed: boolean }
  | { readonly notOver: true };

interface Row {
  readonly id: string;
  readonly installments: number;
  readonly contracts: number;
  readonly totalCentavos: string;
  readonly closedAt: Date;
}

/** True when `month`, `YYYY-MM`, is over in São Paulo at `now`. */
export function isOver(month: string, now: Date): boolean {
  return month < dayOf(now).slice(0, 7);
}

/** Closes the batch of `month`, `YYYY-MM`. Throws for a partner that does not exist. Tests pass their own `now`. */
export async function closeSettlement(pool: Pool, provenance: Provenance, month: string, now?: Date): Promise<Closing> {
  const { partnerId } = provenance;
  return pool.transaction(async (tx) => {
    const known = await tx`select 1 from partners where id = ${partnerId} for no key update`;
    if (known.length === 0) throw new Error(`there is no partner ${partnerId}`);
    const closedAt = now ?? (await readClock(tx));
    if (!isOver(month, closedAt)) return { notOver: true };
    const existing = await readSettlement(tx, partnerId, month);
    if (existing !== null) return { settlement: existing, alreadyClosed: true };
    const settlement = dataOf(month, await count(tx, partnerId, month, closedAt));
    await append(tx, {
      ...provenance,
      stream: settlement.repasse_id,
      expectedVersion: 0,
      facts: [{ type: 'repasse.processado', data: settlement }],
      occurredAt: closedAt,
    });
    return { settlement, alreadyClosed: false };
  });
}

async function readSettlement(
  tx: Tx,
  partnerId: string,
  month: string,
): Promise<EventData<'repasse.processado'> | null> {
  const [row] = await tx<Row[]>`
    select id, installments, contracts, total_centavos as "totalCentavos", closed_at as "closedAt"
    from settlements
    where partner_id = ${partnerId} and month = ${month}`;
  return row === undefined ? null : dataOf(month, row);
}

/**
 * `behind`: whose installment of the last closed month that they reach was not counted. Nobody else is: a batch that
 * counts a loan counts all that it has in closed months before, and each month that closes later counts it too. So a
 * closing looks at one installment of each loan, as a subquery that no plan turns into a reading of the whole table.
 */
async function count(tx: Tx, partnerId: string, month: string, closedAt: Date): Promise<Row> {
  const [row] = await tx<[Row]>`
    with disbursed as materialized (
      select id, (state ->> 'installments')::int as installments, (state ->> 'installmentCentavos')::bigint as centavos,
             left(disbursed_on, 4)::int * 12 + substr(disbursed_on, 6, 2)::int as months
      from loans
      where partner_id = ${partnerId} and status = 'desembolsada'
    ),
    closed as (
      select left(month, 4)::int * 12 + substr(month, 6, 2)::int as months
      from settlements
      where partner_id = ${partnerId} and month < ${month}
    ),
    behind as materialized (
      select * from (
        select *, (select max(months) from closed where months <= d.months + d.installments) - d.months as last
        from disbursed d
      ) reached
      where last >= 1 and (select s.number from settled_installments s where s.loan_id = id and s.number = last) is null
    ),
    due as materialized (
      select id, ${monthsOf(month)}::int - months as number, centavos
      from disbursed
      where ${monthsOf(month)}::int - months between 1 and installments
      union all
      select id, closed.months - behind.months, centavos
      from behind join closed on closed.months - behind.months between 1 and behind.last
      where (
        select s.number from settled_installments s
        where s.loan_id = behind.id and s.number = closed.months - behind.months
      ) is null
    ),
    settlement as (
      insert into settlements (partner_id, month, installments, contracts, total_centavos, closed_at)
      select ${partnerId}, ${month}, count(*), count(distinct id), coalesce(sum(centavos), 0), ${closedAt} from due
      returning *
    ),
    counted as (
      insert into settled_installments (loan_id, number, settlement_id)
      select due.id, due.number, settlement.id from due, settlement
    )
    select id, installments, contracts, total_centavos as "totalCentavos", closed_at as "closedAt" from settlement`;
  return row;
}

/** Months counted from the year 0. */
function monthsOf(month: string): number {
  return Number(month.slice(0, 4)) * 12 + Number(month.slice(5));
}

function dataOf(month: string, row: Row): EventData<'repasse.processado'> {
  return {
    repasse_id: row.id,
    competencia: month,
    total_parcelas: row.installments,
    numero_ccbs: row.contracts,
    valor_total: toReais(Number(row.totalCentavos)),
    fechado_em: row.closedAt.toISOString(),
  };
}
