/**
 * Rows whose salt is gone, held against the orders to erase. A leaf has of an erased text its salted hash alone, which the row itself
 * repeats, so the leaf cannot tell whether a text was taken away by right, nor whether somebody changed what is left of it. The
 * orders are sealed: they list the events, each with the digest of what is left.
 */
import type { Tx } from '../../db/pool.ts';
import type { VerifyFinding } from './compare-rows.ts';
import type { Sight } from './rows.ts';

const DETAILS = {
  apagado_sem_pedido: 'its text was taken away, and no order to erase lists it',
  restante_alterado: 'it was erased, and what is left is not what its order has',
} as const;

interface Found {
  readonly tipo: keyof typeof DETAILS;
  readonly tabela: string;
  readonly linha: string;
}

export async function findStrangeErasures(sql: Tx, sight: Sight): Promise<VerifyFinding[]> {
  const events =
    sight === 'whole'
      ? sql`(select id, sha256(convert_to(data::text, 'UTF8')) as remains from events where salt is null)`
      : sql`(select id, remains from events_as_sealed where is_erased)`;
  const attempts =
    sight === 'whole'
      ? sql`(select delivery_id, number, event_id from attempts where salt is null)`
      : sql`(select delivery_id, number, event_id from attempts_as_sealed where is_erased)`;
  const found = await sql<Found[]>`
    with listed as materialized (
      select events.id, events.remains
      from erasure_pages page cross join lateral unnest(page.event_ids, page.remains) as events (id, remains)
    )
    select case when l.id is null then 'apagado_sem_pedido' else 'restante_alterado' end as tipo,
           'events' as tabela, e.id::text as linha
    from ${events} e
    left join listed l on l.id = e.id
    where l.id is null or e.remains <> l.remains
    union all
    select 'apagado_sem_pedido', 'attempts', a.delivery_id || '/' || a.number
    from ${attempts} a
    where not exists (select from listed where id = a.event_id)
    order by 2, 3`;
  return found.map(({ tipo, tabela, linha }) => ({
    tipo,
    selo: null,
    tabela,
    linha,
    colunas: [],
    detalhe: DETAILS[tipo],
  }));
}
