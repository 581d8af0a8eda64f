/**
 * The conservation law, by partner and day: events × registrations subscribed at the append = entregue + pendente + erro +
 * suspensa.
 *
 * The left side never looks at a delivery. Each append kept the snapshot it saw (`messages.snapshot`), and each change of
 * a registration its transaction (`webhook_history.tx`): the registrations that an append had to deliver to are those
 * whose newest change visible in that snapshot is active and subscribed. The right side is the deliveries themselves.
 * A day is one of America/Sao_Paulo, by the event's `occurred_at`. `webhook.teste` is no event of the log: it stands
 * outside. One statement a day, so that each day is compared within one snapshot.
 */
import type { BalanceLine, BalanceResource, DifferenceResource } from '../contract/audit-resource.ts';
import { TEST_NAME } from '../contract/delivery.ts';
import type { Pool, Tx } from '../db/pool.ts';
import { addDays, startOfDay } from '../loan/calendar.ts';

export interface DayBalance {
  readonly lines: readonly BalanceLine[];
  readonly differences: readonly DifferenceResource[];
}

/** The balance of each day from `from` to `to`, both included. */
export async function* readBalance(pool: Pool, from: string, to: string): AsyncGenerator<DayBalance> {
  for (let day = from; day <= to; day = addDays(day, 1)) {
    yield await pool.transaction(async (tx) => {
      await tx`set transaction isolation level repeatable read, read only`;
      const [lines, pairs, orphans] = [
        await readLines(tx, day),
        await readDifferences(tx, day),
        await readOrphans(tx, day),
      ];
      return { lines, differences: [...pairs, ...orphans] };
    });
  }
}

/**
 * `emitted`: the day's events that partners are sent. `pair`: each with every registration of its partner that was to
 * get it or did get it.
 */
function pairsOf(tx: Tx, day: string) {
  return tx`
    emitted as materialized (
      select e.id as event_id, e.partner_id, e.type, m.fan_out, m.snapshot, m.event_id is null as unsent
      from events e
      left join messages m on m.event_id = e.id
      where e.occurred_at >= ${startOfDay(day)} and e.occurred_at < ${startOfDay(addDays(day, 1))} and is_emitted(e.type)
    ),
    pair as materialized (
      select e.event_id, e.partner_id, e.type, e.fan_out, w.id as webhook_id,
             coalesce(h.active and e.type = any (h.events), false) as expected,
             d.id as delivery_id, d.status
      from emitted e
      join webhooks w on w.partner_id = e.partner_id
      left join lateral (
        select active, events
        from webhook_history
        where webhook_id = w.id and pg_visible_in_snapshot(tx, e.snapshot)
        order by position desc
        limit 1
      ) h on true
      left join deliveries d on d.webhook_id = w.id and d.event_id = e.event_id
      where d.id is not null or (h.active and e.type = any (h.events))
    )`;
}

async function readLines(tx: Tx, day: string): Promise<BalanceLine[]> {
  return tx<BalanceLine[]>`
    with ${pairsOf(tx, day)},
    paired as (
      select partner_id, count(*) filter (where expected)::int as expected,
             count(*) filter (where status = 'entregue')::int as entregue,
             count(*) filter (where status = 'pendente')::int as pendente,
             count(*) filter (where status = 'erro')::int as erro,
             count(*) filter (where status = 'suspensa')::int as suspensa
      from pair
      group by partner_id
    )
    select ${day}::text as dia, e.partner_id as parceiro_id, count(*)::int as eventos, coalesce(p.expected, 0) as esperadas,
           coalesce(p.entregue, 0) as entregue, coalesce(p.pendente, 0) as pendente,
           coalesce(p.erro, 0) as erro, coalesce(p.suspensa, 0) as suspensa
    from emitted e
    left join paired p using (partner_id)
    group by e.partner_id, p.expected, p.entregue, p.pendente, p.erro, p.suspensa
    order by e.partner_id`;
}

/** What is missing, in surplus, or counted otherwise by the append itself. */
async function readDifferences(tx: Tx, day: string): Promise<DifferenceResource[]> {
  return tx<DifferenceResource[]>`
    with ${pairsOf(tx, day)},
    fan_outs as (
      select e.event_id, e.partner_id, e.type, e.fan_out, e.unsent, count(p.webhook_id) filter (where p.expected) as expected
      from emitted e
      left join pair p using (event_id)
      group by e.event_id, e.partner_id, e.type, e.fan_out, e.unsent
    )
    select ${day}::text as dia, found.*
    from (
      select case when expected then 'entrega_ausente' else 'entrega_excedente' end as tipo, partner_id as parceiro_id,
             event_id as evento_id, type as evento, webhook_id, delivery_id as entrega_id,
             case when expected then 'a inscrição estava ativa e inscrita no evento, e não há entrega'
                  else 'há uma entrega, e a inscrição não estava ativa e inscrita no evento' end as detalhe
      from pair
      where expected <> (delivery_id is not null)
      union all
      select 'fan_out_divergente', partner_id, event_id, type, null, null,
             'a gravação do evento contou ' || fan_out || ' e a história das inscrições dá ' || expected
      from fan_outs
      where fan_out <> expected
      union all
      select 'mensagem_ausente', partner_id, event_id, type, null, null, 'o evento não tem a mensagem que seria enviada'
      from fan_outs
      where unsent
    ) found
    order by parceiro_id, evento_id, tipo, webhook_id`;
}

/** Deliveries made that day (their ids tell when) that no event of their partner explains; tests are not asked for one. */
async function readOrphans(tx: Tx, day: string): Promise<DifferenceResource[]> {
  const idAt = (at: Date) =>
    `${at
      .getTime()
      .toString(16)
      .padStart(12, '0')
      .replace(/^(.{8})/, '$1-')}-0000-0000-000000000000`;
  return tx<DifferenceResource[]>`
    select ${day}::text as dia, 'entrega_sem_evento' as tipo, d.partner_id as parceiro_id, d.event_id as evento_id,
           m.type as evento, d.webhook_id, d.id as entrega_id,
           case when m.event_id is null then 'a entrega não tem mensagem'
                when e.id is null then 'a mensagem não tem evento'
                else 'o evento é de outro parceiro que a inscrição' end as detalhe
    from deliveries d
    left join messages m on m.event_id = d.event_id
    left join events e on e.id = d.event_id
    left join webhooks w on w.id = d.webhook_id
    where d.id >= ${idAt(startOfDay(day))} and d.id < ${idAt(startOfDay(addDays(day, 1)))}
      and m.type is distinct from ${TEST_NAME}
      and (m.event_id is null or e.id is null or w.partner_id is distinct from e.partner_id)
    order by d.id`;
}

/** One answer of all days, listing at most `listed` differences and counting all. */
export async function addUp(
  days: AsyncIterable<DayBalance>,
  from: string,
  to: string,
  listed: number,
): Promise<BalanceResource> {
  const lines: BalanceLine[] = [];
  const differences: DifferenceResource[] = [];
  let found = 0;
  for await (const day of days) {
    lines.push(...day.lines);
    found += day.differences.length;
    differences.push(...day.differences.slice(0, listed - differences.length));
  }
  const sum = (name: keyof BalanceResource['total']) => lines.reduce((total, line) => total + line[name], 0);
  return {
    de: from,
    ate: to,
    fecha: found === 0,
    linhas: lines,
    total: {
      eventos: sum('eventos'),
      esperadas: sum('esperadas'),
      entregue: sum('entregue'),
      pendente: sum('pendente'),
      erro: sum('erro'),
      suspensa: sum('suspensa'),
    },
    diferencas: differences,
    total_diferencas: found,
  };
}
