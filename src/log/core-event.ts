import { NOT_FACTS } from '../contract/delivery.ts';
import type { CatalogEntry, CoreEvent } from '../contract/resources/nucleus-resource.ts';
import type { Pool } from '../db/pool.ts';

type CoreEventRow = Omit<CoreEvent, 'entregas' | 'ocorrido_em'> & { readonly occurredAt: Date };

/** Without its deliveries; null for an unknown id, and for tests and notices, which are no facts. */
export async function readCoreEvent(pool: Pool, id: string): Promise<Omit<CoreEvent, 'entregas'> | null> {
  const [row] = await pool.run(
    (sql) => sql<CoreEventRow[]>`
      select id as evento_id, type as evento, stream as fluxo, version as versao, imported as importado, family as familia,
             partner_id as parceiro_id, occurred_at as "occurredAt", actor as autor, request_id as requisicao_id,
             case when loan_version is not null then stream end as emprestimo_id, loan_version as versao_emprestimo, data
      from events
      where id = ${id} and type <> all (${NOT_FACTS as string[]})`,
  );
  if (row === undefined) return null;
  const { occurredAt, ...event } = row;
  return { ...event, ocorrido_em: occurredAt.toISOString() };
}

/** Each type as `append_event` holds it now. */
export async function readCatalog(pool: Pool): Promise<CatalogEntry[]> {
  return pool.run(
    (sql) => sql<CatalogEntry[]>`
      select name as evento, families as familias, payload,
             case kind when 'emitted' then 'emitido' when 'internal' then 'interno' when 'notice' then 'aviso'
                       else 'reservado' end as tipo
      from event_types
      order by kind, name`,
  );
}
