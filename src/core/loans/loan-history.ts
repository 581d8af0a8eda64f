/** A loan's way: its events, the state that each led to, and the deliveries that it caused. */
import type { LoanHistory, LoanStep } from '../../contract/resources/loan-resource.ts';
import type { Pool } from '../../db/pool.ts';
import { states } from '../../loan/evolve.ts';
import { sentOf } from '../../log/feed.ts';
import { isHere, readStream, type RecordedEvent } from '../../log/read.ts';
import { readLoan } from './read-loan.ts';

type LoanEventRow = RecordedEvent & { readonly id: string; readonly deliveries: LoanStep['entregas'] };

/** From the version `from` on (null: from its first event), `most` events of it. Null when the partner has no such loan. */
export async function readLoanHistory(
  pool: Pool,
  partnerId: string,
  loanId: string,
  { from, most }: { readonly from: number | null; readonly most: number },
): Promise<LoanHistory | null> {
  const loan = await readLoan(pool, partnerId, loanId);
  if (loan === null) return null;
  const before = from === null ? [] : await pool.run((sql) => readStream(sql, loanId, from - 1));
  const rows = await pool.run(
    (sql) => sql<LoanEventRow[]>`
      with stream as materialized (
        select id, type, data, version, partner_id, occurred_at from facts
        where stream = ${loanId} and partner_id = ${partnerId} and ${isHere(sql, loanId)} and (${from}::int is null or version >= ${from})
        order by version limit ${most + 1}
      ),
      ${sentOf(sql, partnerId, 'stream')}
      select stream.id, type, data, version, partner_id as "partnerId", occurred_at as "occurredAt",
             coalesce(sent.list, '[]') as deliveries
      from stream left join sent on sent.event_id = stream.id
      order by version`,
  );
  const page = rows.slice(0, most);
  const after = [...states([...before, ...page])].slice(before.length);
  const itens = page.map((row, index) => {
    const state = after[index];
    return {
      versao: row.version,
      evento_id: row.id,
      evento: row.type,
      ocorrido_em: row.occurredAt.toISOString(),
      status: state?.status ?? null,
      situacao_documentos: state?.obligation?.situation ?? null,
      entregas: row.deliveries,
    };
  });
  return { emprestimo_id: loanId, numero: loan.number, itens, proxima_versao: rows[most]?.version ?? null };
}
