/** The balance read from the deliveries' side: those that no event or webhook accounts for. */
import type { DifferenceResource } from '../contract/resources/audit-resource.ts';
import { TEST_NAME } from '../contract/delivery.ts';
import { startOfDay } from '../contract/calendar.ts';
import { firstIdAt } from '../db/first-id.ts';
import type { Tx } from '../db/pool.ts';
import { coverable } from './seals/rows.ts';
import type { Slice } from './slice.ts';

/** Deliveries made in the slice (their ids hold the time) without an event, of another partner's, or of an imported one; no tests. */
export function orphansOf(tx: Tx, { days, start, end }: Slice) {
  const firsts = days.map((day, index) => firstIdAt(index === 0 ? start : startOfDay(day)));
  return tx<DifferenceResource[]>`
    select (${days as string[]}::text[])[width_bucket(d.id, (select ${firsts}::text[]::uuid[]))] as dia,
           case when e.imported then 'entrega_excedente' else 'entrega_sem_evento' end as tipo,
           d.partner_id as parceiro_id, d.event_id as evento_id, case when e.fan_out is not null then e.type end as evento,
           d.webhook_id, d.id as entrega_id,
           case when e.imported then 'o evento é do histórico, que não tem entregas'
                when e.fan_out is null then 'a entrega não tem mensagem'
                else 'o evento e o webhook são de parceiros diferentes' end as detalhe
    from deliveries d
    left join lateral (select partner_id, type, fan_out, imported from events where id = d.event_id and ${tx.unsafe(coverable('events'))} limit 1) e on true
    left join lateral (select partner_id from webhooks where id = d.webhook_id limit 1) w on true
    where d.id >= ${firstIdAt(start)} and d.id < ${firstIdAt(end)}
      and e.type is distinct from ${TEST_NAME}
      and (e.fan_out is null or e.imported or w.partner_id is distinct from e.partner_id)
    order by d.id`;
}
