/**
 * The conservation law, by partner and day: events × webhooks subscribed at the append = entregue + pendente + erro + suspensa.
 * Invariant: the left side never reads a delivery. Each append stored its snapshot (`events.snapshot`). It had to deliver to each
 * webhook whose newest visible change is active and subscribed, while its partner was active (`partner_history`). Rows that no
 * seal can cover do not count.
 * A day is one of America/Sao_Paulo, by `occurred_at`. Tests and notices do not count. A delivery of an imported event is a
 * difference. Events that break the loan's rules are listed (unexpected-facts.ts).
 * A month is one statement; a busy one is halved, down to an hour, for the API's deadline. Alternative: joins; without statistics
 * the planner compares each event with each other one.
 */
import { TEST_NAME } from '../contract/delivery.ts';
import { NOTICE_NAMES } from '../contract/events.ts';
import type { DifferenceResource } from '../contract/resources/audit-resource.ts';
import { firstIdAt } from '../db/first-id.ts';
import type { Pool, Tx } from '../db/pool.ts';
import { addDays, lastOfMonth, startOfDay } from '../contract/calendar.ts';
import { type KeptDay, readKeptDays } from './kept-days.ts';
import { coverable } from './seals/rows.ts';
import { findUnexpected, type Span } from './unexpected-facts.ts';

interface Slice extends Span {
  /** Days that follow each other, or the one that the slice is an hour of. */
  readonly days: readonly string[];
  /** Nothing happened: nothing need be asked. */
  readonly isEmpty?: boolean;
}

const HOUR_MS = 3_600_000;
/** These names are sent but are no facts. An event counts as sent by its sealed `fan_out`; if somebody removed that, by the catalog. */
const UNCOUNTED = [TEST_NAME, ...NOTICE_NAMES];
/** A period with more events, or more deliveries, than this is read in parts. */
export const BUSY = 5_000;

/** The balance of a day, or of an hour of a busy one: at most one line for each partner. */
export type BalanceSlice = Pick<KeptDay, 'lines' | 'differences'> & Partial<KeptDay>;

interface HowToRead {
  /** Kept days are counted again, too. */
  readonly anew?: boolean;
  /** Slices of a month that are counted at once. */
  readonly atOnce?: number;
}

export async function* readBalance(
  pool: Pool,
  from: string,
  to: string,
  { anew = false, atOnce = 1 }: HowToRead = {},
): AsyncGenerator<BalanceSlice> {
  const kept = anew ? null : await readKeptDays(pool, from, to);
  for (let day = from; day <= to; day = addDays(day, 1)) {
    const found = kept?.get(day);
    if (found !== undefined) {
      yield found;
      continue;
    }
    const days = [day];
    const month = lastOfMonth(day, to);
    for (let next = addDays(day, 1); next <= month && !kept?.has(next); next = addDays(next, 1)) days.push(next);
    const slices = await slicesOf(pool, days);
    const ahead = slices.splice(0, atOnce).map((slice) => count(pool, slice));
    for (let next = ahead.shift(); next !== undefined; next = ahead.shift()) {
      const counted = await next.catch(async (error: unknown) => {
        await Promise.allSettled(ahead);
        throw error;
      });
      for (const slice of slices.splice(0, 1)) ahead.push(count(pool, slice));
      yield* counted;
    }
    day = days.at(-1) ?? day;
  }
}

/** Consecutive days, in one slice if they are not busy; a busy day by its hours. */
async function slicesOf(pool: Pool, days: readonly string[]): Promise<Slice[]> {
  const [first = '', last = ''] = [days[0], days.at(-1)];
  const whole = { days, start: startOfDay(first), end: startOfDay(addDays(last, 1)) };
  const rows = await countRows(pool, whole);
  if (rows <= BUSY) return [{ ...whole, isEmpty: rows === 0 }];
  if (first !== last) {
    const middle = days.length >> 1;
    return [...(await slicesOf(pool, days.slice(0, middle))), ...(await slicesOf(pool, days.slice(middle)))];
  }
  const [from, to] = [whole.start.getTime(), whole.end.getTime()];
  return Array.from({ length: Math.ceil((to - from) / HOUR_MS) }, (_, hour) => {
    const start = from + hour * HOUR_MS;
    return { days, start: new Date(start), end: new Date(Math.min(start + HOUR_MS, to)) };
  });
}

async function count(pool: Pool, slice: Slice): Promise<BalanceSlice[]> {
  if (slice.isEmpty === true) return slice.days.map(() => ({ lines: [], differences: [] }));
  const counted = await pool.transaction(async (tx) => {
    await tx`set transaction isolation level repeatable read, read only`;
    const [row] = await balanceOf(tx, slice);
    return { lines: row?.lines ?? [], differences: [...(row?.differences ?? []), ...(await orphansOf(tx, slice))] };
  });
  const differences = [...counted.differences, ...(await findUnexpected(pool, slice))];
  return slice.days.map((day) => ({
    lines: counted.lines.filter(({ dia }) => dia === day),
    differences: differences.filter(({ dia }) => dia === day),
  }));
}

/** At most {@link BUSY} and one. */
async function countRows(pool: Pool, { start, end }: Slice): Promise<number> {
  const [{ rows }] = await pool.run(
    (tx) => tx<[{ rows: number }]>`
      select greatest(
               (select count(*) from (
                  select from events where not imported and occurred_at >= ${start} and occurred_at < ${end}
                  union all
                  select from events where imported and occurred_at >= ${start} and occurred_at < ${end}
                  limit ${BUSY + 1}
                ) e),
               (select count(*) from (
                  select from deliveries where id >= ${firstIdAt(start)} and id < ${firstIdAt(end)} limit ${BUSY + 1}
                ) d))::int as rows`,
  );
  return rows;
}

/** `paired`: the slice's events, each with each webhook that should get or got it. Limits and offset pin the planner's look-ups. */
export function balanceOf(tx: Tx, { days, start, end }: Slice) {
  const starts = days.map((day, index) => (index === 0 ? start : startOfDay(day)).toISOString());
  const day = tx`(${days as string[]}::text[])[width_bucket(occurred_at, (select ${starts}::text[]::timestamptz[]))]`;
  return tx<BalanceSlice[]>`
    with paired as materialized (
      select ${day} as dia, e.id as event_id, e.partner_id, e.type, e.fan_out, e.fan_out is null as unsent,
             p.webhook_id, p.expected, p.delivery_id, p.status
      from events e
      left join lateral (
        select active
        from partner_history
        where ${tx.unsafe(coverable('partner_history'))} and partner_id = e.partner_id and (epoch < e.epoch or epoch = e.epoch and pg_visible_in_snapshot(tx, e.snapshot::pg_snapshot))
        order by position desc
        limit 1
      ) account on true
      left join lateral (
        select w.id as webhook_id, coalesce(h.active and account.active is not false and e.type = any (h.events), false) as expected,
               d.id as delivery_id, d.status
        from webhooks w
        left join lateral (
          select active, events
          from webhook_history
          where ${tx.unsafe(coverable('webhook_history'))} and webhook_id = w.id and (epoch < e.epoch or epoch = e.epoch and pg_visible_in_snapshot(tx, e.snapshot::pg_snapshot))
          order by position desc
          limit 1
        ) h on true
        left join lateral (
          select id, status from deliveries where webhook_id = w.id and event_id = e.id limit 1
        ) d on true
        where w.partner_id = e.partner_id and (d.id is not null or (h.active and e.type = any (h.events)))
        offset 0
      ) p on true
      where not e.imported and e.occurred_at >= ${start} and e.occurred_at < ${end}
        and (e.fan_out is not null or exists (select from event_types where name = e.type and kind = 'emitted'))
        and e.type <> all (${UNCOUNTED}::text[]) and ${tx.unsafe(coverable('e'))}
    ),
    counted as materialized (
      select dia, event_id, partner_id, type, fan_out, unsent, count(*) filter (where expected) as expected,
             count(*) filter (where status = 'entregue') as entregue,
             count(*) filter (where status = 'pendente') as pendente,
             count(*) filter (where status = 'erro') as erro,
             count(*) filter (where status = 'suspensa') as suspensa
      from paired
      group by dia, event_id, partner_id, type, fan_out, unsent
    ),
    line as (
      select dia, partner_id as parceiro_id, sum(eventos) as eventos, sum(esperadas) as esperadas,
             sum(entregue) as entregue, sum(pendente) as pendente, sum(erro) as erro, sum(suspensa) as suspensa,
             sum(importados) as importados
      from (
        select dia, partner_id, 1 as eventos, expected as esperadas, entregue, pendente, erro, suspensa, 0 as importados
        from counted
        union all
        select ${day}, partner_id, 0, 0, 0, 0, 0, 0, count(*)
        from events
        where imported and occurred_at >= ${start} and occurred_at < ${end} and ${tx.unsafe(coverable('events'))}
        group by 1, partner_id
      ) either
      group by dia, partner_id
    ),
    difference as (${differences(tx)})
    select (select coalesce(pg_catalog.json_agg(line order by dia, parceiro_id), '[]') from line) as lines,
           (select coalesce(pg_catalog.json_agg(difference order by dia, parceiro_id, evento_id, tipo, webhook_id), '[]')
            from difference) as differences`;
}

/** Deliveries that are missing or in surplus, and events whose append counted another number. */
function differences(tx: Tx) {
  return tx`
    select dia, case when expected then 'entrega_ausente' else 'entrega_excedente' end as tipo, partner_id as parceiro_id,
           event_id as evento_id, type as evento, webhook_id, delivery_id as entrega_id,
           case when expected then 'o webhook estava ativo e inscrito no evento, e não há entrega'
                else 'há uma entrega, e o webhook não estava ativo e inscrito no evento' end as detalhe
    from paired
    where expected <> (delivery_id is not null)
    union all
    select dia, 'fan_out_divergente', partner_id, event_id, type, null, null,
           'a gravação do evento contou ' || fan_out || ' e a história dos webhooks dá ' || expected
    from counted
    where fan_out <> expected
    union all
    select dia, 'mensagem_ausente', partner_id, event_id, type, null, null, 'o evento não tem a mensagem que seria enviada'
    from counted
    where unsent`;
}

/** Deliveries made in the slice (their ids hold the time) without an event, of another partner's, or of an imported one; no tests. */
function orphansOf(tx: Tx, { days, start, end }: Slice) {
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
