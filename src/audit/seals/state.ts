/** Compares unsealed rows (webhook, lane, account, delivery's status) with sealed ones (newest history; attempts and orders). */
import { FIRST_ID, firstIdAt, LAST_ID } from '../../db/first-id.ts';
import type { Pool, Tx } from '../../db/pool.ts';
import { ofSeal, type VerifyFinding } from './compare-rows.ts';
import { coverable, type Sight } from './rows.ts';

const CHUNK = 200_000;

/** Rows of today that are not as the newest line of their history has them, or are gone. A row without any line is left to the balance. */
export async function findUnexpectedStates(sql: Tx, sight: Sight): Promise<VerifyFinding[]> {
  const [{ schema }] = await sql<[{ schema: string }]>`select current_schema() as schema`;
  const auditors = sql(`${schema}_auditoria`);
  const [webhooks, lines] =
    sight === 'whole'
      ? [sql`webhooks`, sql`webhook_history`]
      : [
          sql`(select id, parceiro_id as partner_id, url, eventos as events, ativo as active from ${auditors}.webhooks)`,
          sql`(select webhook_id, posicao as position, parceiro_id as partner_id, url, eventos as events, ativo as active
               from ${auditors}.historico_webhooks)`,
        ];
  const found = await sql<{ table: string; name: string; columns: string[] }[]>`
    with newest_webhook as (select distinct on (webhook_id) * from ${lines} lines order by webhook_id, position desc),
         newest_partner as (select distinct on (partner_id) partner_id, name, active, signing, documents, issuance
                            from partner_history order by partner_id, position desc),
         lane as (select webhook_id, muted_at from lanes),
         muting as (select distinct on (webhook_id) webhook_id, change = 'silenciamento' as is_muted from webhook_history
                    where change in ('silenciamento', 'fim_do_silenciamento') order by webhook_id, position desc)
    select 'webhooks' as "table", h.webhook_id::text as name, pg_catalog.array_remove(array[
             case when w.url <> h.url then 'url' end, case when w.events <> h.events then 'events' end,
             case when w.active <> h.active then 'active' end, case when w.partner_id <> h.partner_id then 'partner_id' end
           ], null) as columns
    from ${webhooks} w right join newest_webhook h on h.webhook_id = w.id
    where (w.url, w.events, w.active, w.partner_id) is distinct from (h.url, h.events, h.active, h.partner_id)
    union all
    select 'lanes', l.webhook_id::text, array['muted_at']
    from lane l left join muting m using (webhook_id)
    where (l.muted_at is not null) <> coalesce(m.is_muted, false)
    union all
    select 'partners', h.partner_id::text, pg_catalog.array_remove(array[
             case when p.name <> h.name then 'name' end, case when p.active <> h.active then 'active' end,
             case when p.signing <> h.signing then 'signing' end, case when p.documents <> h.documents then 'documents' end,
             case when p.issuance <> h.issuance then 'issuance' end
           ], null)
    from partners p right join newest_partner h on h.partner_id = p.id
    where (p.name, p.active, p.signing, p.documents, p.issuance)
          is distinct from (h.name, h.active, h.signing, h.documents, h.issuance)
    order by 1, 2`;
  const detail = 'it is not as the newest line of its history has it';
  return found.map(({ table, name, columns }) => ofSeal('estado_divergente', null, detail, table, name, columns));
}

const FAULTS = {
  arrived_by_none: ['status', 'it is entregue, and no attempt arrived'],
  failed_by_none: ['status', 'it is erro, without an attempt, and no order cancelled it'],
  arrived: ['status', 'its last attempt arrived, and no order came after: it is not entregue'],
  other_event: ['event_id', 'its attempts are of another event, or name none'],
  other_webhook: ['webhook_id', 'its attempts are of another webhook'],
  other_partner: ['partner_id', 'its attempts are of another partner'],
} as const;

/** Deliveries that do not follow from attempts and orders: all, or those made or attempted since `since`. In chunks by id. */
export async function findUnexpectedDeliveries(pool: Pool, since: Date | null): Promise<VerifyFinding[]> {
  const found: VerifyFinding[] = [];
  const look = async (chosen: (column: string) => string): Promise<void> => {
    const rows = await pool.run((sql) => findUnexpected(sql, chosen));
    for (const { id, fault } of rows) {
      const [column, detail] = FAULTS[fault];
      found.push(ofSeal('status_divergente', null, detail, 'deliveries', id, [column]));
    }
  };
  for (let from = since === null ? FIRST_ID : firstIdAt(since), until = ''; until !== LAST_ID; from = until) {
    const [last] = await pool.run(
      (sql) => sql<{ id: string }[]>`select id from deliveries where id >= ${from} order by id offset ${CHUNK} limit 1`,
    );
    until = last?.id ?? LAST_ID;
    await look((id) => `${id} >= '${from}' and ${id} < '${until}'`);
  }
  if (since !== null) {
    const attempted = `select delivery_id from attempts where recorded_at >= '${since.toISOString()}'`;
    await look((id) => `${id} < '${firstIdAt(since)}' and ${id} in (${attempted})`);
  }
  return found;
}

/** `chosen`: the condition for the column that has a delivery's id. */
function findUnexpected(sql: Tx, chosen: (column: string) => string) {
  return sql<{ id: string; fault: keyof typeof FAULTS }[]>`
    with tried as materialized (
      select delivery_id, bool_or(outcome = 'entregue') as arrived, count(*) filter (where not late) as attempts,
             max(number * 2 + (outcome = 'entregue')::int) filter (where not late) % 2 = 1 as last_arrived,
             case when count(event_id) = count(*) then pg_catalog.any_value(event_id) end as event_id,
             pg_catalog.any_value(webhook_id) as webhook_id, pg_catalog.any_value(partner_id) as partner_id
      from attempts t where ${sql.unsafe(`${coverable()} and ${chosen('delivery_id')}`)}
      group by delivery_id
    ),
    judged as (
      select d.id, d.status, case
               when d.event_id is distinct from t.event_id and t.attempts is not null then 'other_event'
               when d.webhook_id <> t.webhook_id then 'other_webhook'
               when d.partner_id <> t.partner_id then 'other_partner'
               when d.status = 'entregue' and not coalesce(t.arrived, false) then 'arrived_by_none'
               when d.status = 'erro' and coalesce(t.attempts, 0) = 0 then 'failed_by_none'
               when d.status <> 'entregue' and t.last_arrived then 'arrived' end as fault
      from deliveries d left join tried t on t.delivery_id = d.id
      where ${sql.unsafe(chosen('d.id'))}
    )
    select id, fault from judged
    where fault is not null and not exists (
      select from send_orders o cross join pg_catalog.unnest(o.delivery_ids) ordered (id)
      where ordered.id = judged.id
        and (fault in ('failed_by_none', 'arrived') and o.kind = 'cancelamento' or fault = 'arrived' and status <> 'erro'))
    order by id`;
}
