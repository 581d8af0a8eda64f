/** One delivery's attempts as its partner reads them, paged from the newest: each resend adds up to six. */
import { ERASED } from '../../contract/erasure.ts';
import { masked } from '../../contract/masking/masking.ts';
import { type AttemptResource, ATTEMPTS_SHOWN } from '../../contract/resources/delivery-resource.ts';
import type { Outcome } from '../../contract/statuses.ts';
import type { Tx } from '../../db/pool.ts';

type AttemptKey = readonly [number: number, late: boolean];

/** The newest `most` attempts before `before` (null: before none). */
export interface AttemptsWanted {
  readonly before: AttemptKey | null;
  readonly most: number;
}

export const NEWEST: AttemptsWanted = { before: null, most: ATTEMPTS_SHOWN };

export interface AttemptPage {
  readonly attempts: AttemptResource[];
  /** The next page ends before this attempt; null at the oldest. */
  readonly older: AttemptKey | null;
}

interface AttemptRow {
  readonly number: number;
  readonly late: boolean;
  readonly outcome: Outcome;
  readonly statusCode: number | null;
  readonly startedAt: Date;
  readonly durationMs: number | null;
  readonly error: string | null;
  readonly head: string | null;
  readonly body: string | null;
}

/** `attempts`: a relation with the table's columns, for archived rows. */
export async function readAttempts(
  sql: Tx,
  deliveryId: string,
  { before, most }: AttemptsWanted,
  attempts = sql`attempts`,
): Promise<AttemptPage> {
  const rows = await sql<AttemptRow[]>`
    select number, late, outcome, status_code as "statusCode", started_at as "startedAt", duration_ms as "durationMs",
           error, answer_head(answer) as head,
           case when answer is null and commitment is not null then ${ERASED} else answer_body(answer) end as body
    from ${attempts} a
    where delivery_id = ${deliveryId}
      ${before === null ? sql`` : sql`and (number, late) < (${before[0]}::int, ${before[1]}::boolean)`}
    order by number desc, late desc
    limit ${most + 1}`;
  const shown = rows.slice(0, most).toReversed();
  const [oldest] = shown;
  const older = rows.length > most && oldest !== undefined ? ([oldest.number, oldest.late] as const) : null;
  return { attempts: shown.map(view), older };
}

function view(row: AttemptRow): AttemptResource {
  return {
    numero: row.number,
    inicio: row.startedAt.toISOString(),
    duracao_ms: row.durationMs,
    resultado: row.outcome,
    status_http: row.statusCode,
    erro: row.error,
    resposta_cabecalhos: fieldsOf(row.head),
    resposta: row.body === null ? null : masked(row.body),
    atrasada: row.late,
  };
}

function fieldsOf(head: string | null): AttemptResource['resposta_cabecalhos'] {
  return (masked(head ?? '').match(/.+/g) ?? []).map((line) => {
    const end = line.indexOf(': ');
    return { nome: line.slice(0, end), valor: line.slice(end + 2) };
  });
}
