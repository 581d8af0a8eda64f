/** A loan's way: every event of it, the state that it led to, and the deliveries that it caused. */
import type { LoanHistory, LoanStep } from '../../contract/resources/loan-resource.ts';
import type { Pool } from '../../db/pool.ts';
import { fold } from '../../loan/evolve.ts';
import type { RecordedEvent } from '../../log/read.ts';

type Row = RecordedEvent & { readonly id: string; readonly deliveries: LoanStep['entregas'] };

/** Null when the partner has no such loan. */
export async function readLoanHistory(pool: Pool, partnerId: string, loanId: string): Promise<LoanHistory | null> {
  const rows = await pool.run(
    (sql) => sql<Row[]>`
      with stream as materialized (
        select id, type, data, version, partner_id, occurred_at from facts
        where stream = ${loanId} and partner_id = ${partnerId}
      ),
      -- Materialized, or it is made again for each event.
      sent as materialized (
        select d.event_id,
               json_agg(json_build_object('id', d.id, 'webhook_id', d.webhook_id, 'status', d.status) order by d.id) as list
        from deliveries d
        where d.webhook_id = any (array(select id from webhooks where partner_id = ${partnerId}))
          and d.event_id = any (array(select id from stream))
        group by d.event_id
      )
      select stream.id, type, data, version, partner_id as "partnerId", occurred_at as "occurredAt",
             coalesce(sent.list, '[]') as deliveries
      from stream left join sent on sent.event_id = stream.id
      order by version`,
  );
  const last = fold(rows);
  if (last === null) return null;
  const itens = rows.map(({ id, type, version, occurredAt, deliveries }, index) => {
    const state = fold(rows.slice(0, index + 1));
    return {
      versao: version,
      evento_id: id,
      evento: type,
      ocorrido_em: occurredAt.toISOString(),
      status: state?.status ?? null,
      situacao_documentos: state?.obligation?.situation ?? null,
      entregas: deliveries,
    };
  });
  return { emprestimo_id: loanId, numero: last.number, itens };
}
