/** The attempts of one delivery as its partner reads them. */
import { ERASED } from '../../contract/erasure.ts';
import { masked } from '../../contract/masking.ts';
import type { AttemptResource } from '../../contract/resources/delivery-resource.ts';
import type { Outcome } from '../../contract/statuses.ts';
import type { Tx } from '../../db/pool.ts';

/** `attempts`: a relation of the same columns, of rows that an archive has. */
export async function readAttempts(sql: Tx, deliveryId: string, attempts = sql`attempts`): Promise<AttemptResource[]> {
  const rows = await sql<
    {
      number: number;
      late: boolean;
      outcome: Outcome;
      statusCode: number | null;
      startedAt: Date;
      durationMs: number | null;
      error: string | null;
      head: string | null;
      body: string | null;
    }[]
  >`
    select number, late, outcome, status_code as "statusCode", started_at as "startedAt", duration_ms as "durationMs",
           error, answer_head(answer) as head,
           case when answer is null and commitment is not null then ${ERASED} else answer_body(answer) end as body
    from ${attempts} a where delivery_id = ${deliveryId} order by number, late`;
  return rows.map((row) => ({
    numero: row.number,
    inicio: row.startedAt.toISOString(),
    duracao_ms: row.durationMs,
    resultado: row.outcome,
    status_http: row.statusCode,
    erro: row.error,
    resposta_cabecalhos: fieldsOf(row.head),
    resposta: row.body === null ? null : masked(row.body),
    atrasada: row.late,
  }));
}

function fieldsOf(head: string | null): AttemptResource['resposta_cabecalhos'] {
  return (masked(head ?? '').match(/.+/g) ?? []).map((line) => {
    const end = line.indexOf(': ');
    return { nome: line.slice(0, end), valor: line.slice(end + 2) };
  });
}
