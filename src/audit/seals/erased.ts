/**
 * Compares erased rows with the orders to erase. The leaf of an erased text is its salted hash, which the row itself repeats, so it
 * cannot tell a rightful erasure from a changed row. The sealed order lists the events, each with the digest of the data left; that
 * digest was given by whoever ordered, so what is left is also held against the event's seal.
 */
import type { Pool, Tx } from '../../db/pool.ts';
import type { ArchivedSeals } from './archived-leaves.ts';
import { ofSeal, type VerifyFinding } from './compare-rows.ts';
import { remainsOf } from './remains.ts';
import { type Sight, within } from './rows.ts';
import { readSeals } from './seal-log.ts';

const DETAILS = {
  apagado_sem_pedido: 'its text was taken away, and no order to erase lists it',
  restante_alterado: 'it was erased, and what is left is not what its order has',
  apagamento_incompleto: 'an order to erase lists it and is done, or a day old, and its text is there',
} as const;

export async function findUnexpectedErasures(sql: Tx, sight: Sight): Promise<VerifyFinding[]> {
  const events =
    sight === 'whole'
      ? sql`(select id, sha256(convert_to(data::text, 'UTF8')) as remains from events where salt is null)`
      : sql`(select id, remains from events_as_sealed where is_erased)`;
  const attempts =
    sight === 'whole'
      ? sql`(select delivery_id, number, event_id from attempts where salt is null)`
      : sql`(select delivery_id, number, event_id from attempts_as_sealed where is_erased)`;
  // A late report may come in without its answer, and has a salt all the same; a login that may not see answers finds none.
  const answered = sight === 'whole' ? sql`a.answer is not null` : sql`false`;
  const found = await sql<{ tipo: keyof typeof DETAILS; tabela: string; linha: string }[]>`
    with listed as materialized (
      select events.id, events.remains, work.done_at is not null or ordered.ordered_at < now() - interval '1 day' as is_due
      from erasure_pages page
      cross join lateral unnest(page.event_ids, page.remains) as events (id, remains)
      left join erasure_orders ordered on ordered.id = page.order_id
      left join erasures work on work.order_id = page.order_id
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
    union all
    select 'apagamento_incompleto', 'events', e.id::text
    from listed l join events e on e.id = l.id
    where l.is_due and not exists (select from ${events} erased where erased.id = e.id)
    union all
    select 'apagamento_incompleto', 'attempts', a.delivery_id || '/' || a.number
    from listed l
    join events e on e.id = l.id
    join webhooks w on w.partner_id = e.partner_id
    join deliveries d on d.webhook_id = w.id and d.event_id = e.id
    join attempts a on a.delivery_id = d.id
    where l.is_due and ${answered}
    order by 2, 3`;
  return found.map(({ tipo, tabela, linha }) => ofSeal(tipo, null, DETAILS[tipo], tabela, linha));
}

/** Erased events of seals that had sealed something else of what erasing would leave (remains.ts). */
export async function findUnexpectedRemains(
  pool: Pool,
  sight: Sight,
  archived: ArchivedSeals,
): Promise<VerifyFinding[]> {
  const isErased = sight === 'whole' ? 'events where salt is null' : 'events_as_sealed where is_erased';
  const erased = await pool.run(
    (sql) => sql<{ id: string; seal: number }[]>`
      select e.id, s.number::float8 as seal
      from (select id, epoch, xid8send(tx)::bigint as tx from ${sql.unsafe(isErased)}) e
      cross join lateral (
        select number, end_epoch, end_tx from seals where (first_epoch, first_tx) <= (e.epoch, e.tx)
        order by first_epoch desc, first_tx desc limit 1) s
      where (s.end_epoch, s.end_tx) > (e.epoch, e.tx)
      order by s.number, e.id`,
  );
  const found: VerifyFinding[] = [];
  for (const [number, events] of Map.groupBy(erased, ({ seal }) => seal)) {
    const left = (await archived.rests(number)) ?? undefined;
    const isSame = await pool.run(async (sql) => {
      const [seal] = await readSeals(sql, number - 1, 1);
      const rest = seal === undefined ? null : await remainsOf(sql, within(seal), sight, left);
      return rest !== null && seal?.remains?.equals(rest) === true;
    });
    if (isSame) continue;
    const detalhe = `what is left of the ${events.length} erased events of seal ${number} is not what it had sealed that would be left`;
    for (const { id: linha } of events.slice(0, NAMED))
      found.push(ofSeal('restante_alterado', number, detalhe, 'events', linha, ['data']));
  }
  return found;
}

const NAMED = 100;
