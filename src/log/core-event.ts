/** One event of the log by its id, and the catalog as the database takes it: what a loan core asks about. */
import { NOT_FACTS } from '../contract/delivery.ts';
import type { CatalogEntry, CoreEvent } from '../contract/resources/nucleus-resource.ts';
import type { Pool } from '../db/pool.ts';

interface Row {
  readonly id: string;
  readonly type: string;
  readonly stream: string;
  readonly version: number;
  readonly imported: boolean;
  readonly family: string;
  readonly partnerId: string;
  readonly occurredAt: Date;
  readonly actor: string;
  readonly requestId: string | null;
  readonly loanVersion: number | null;
  readonly data: CoreEvent['data'];
}

/** The event, without its deliveries; null for an unknown id, and for tests and notices, which are no facts. */
export async function readCoreEvent(pool: Pool, id: string): Promise<Omit<CoreEvent, 'entregas'> | null> {
  const [row] = await pool.run(
    (sql) => sql<Row[]>`
      select id, type, stream, version, imported, family, partner_id as "partnerId", occurred_at as "occurredAt", actor,
             request_id as "requestId", loan_version as "loanVersion", data
      from events
      where id = ${id} and type <> all (${NOT_FACTS as string[]})`,
  );
  if (row === undefined) return null;
  return {
    evento_id: row.id,
    evento: row.type,
    fluxo: row.stream,
    versao: row.version,
    importado: row.imported,
    familia: row.family,
    parceiro_id: row.partnerId,
    ocorrido_em: row.occurredAt.toISOString(),
    autor: row.actor,
    requisicao_id: row.requestId,
    emprestimo_id: row.loanVersion === null ? null : row.stream,
    versao_emprestimo: row.loanVersion,
    data: row.data,
  };
}

const KINDS = { emitted: 'emitido', internal: 'interno', notice: 'aviso', reserved: 'reservado' } as const;

/** Each type as `append_event` holds it now. */
export async function readCatalog(pool: Pool): Promise<CatalogEntry[]> {
  const rows = await pool.run(
    (sql) => sql<{ name: string; kind: keyof typeof KINDS; families: string[]; payload: CatalogEntry['payload'] }[]>`
      select name, kind, families, payload from event_types order by kind, name`,
  );
  return rows.map(({ name, kind, families, payload }) => ({
    evento: name,
    tipo: KINDS[kind],
    familias: families,
    payload,
  }));
}
