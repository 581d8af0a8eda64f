/**
 * The verdict of a fault run: what the receiver saw, what the loan core was told, and what the database says, against
 * each other. Every count under `faults` must be 0.
 */
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { RETRY_DELAYS_S } from '../../src/contract/schedule.ts';
import type { Sql, Tx } from '../../src/db/pool.ts';
import type { Ledger } from './load.ts';

/** How far apart the receiver's and the database's clock readings of one moment may lie, and roundings. */
const TOLERANCE_MS = 25;
/** An attempt's start is noted late by as long as its record waits for locks: at most as long as the pool's deadline. */
const NOTED_LATE_MS = 5_000;
const CHUNK = 10_000;

export interface Verdict {
  readonly figures: Readonly<Record<string, number>>;
  readonly faults: Readonly<Record<string, number>>;
  /** The first POSTs without an attempt row of their time, each with all that is known of its delivery. */
  readonly orphans: readonly unknown[];
}

async function loadPosts(sql: Tx, file: string): Promise<void> {
  await sql`
    create table chaos_posts (delivery_id uuid, at timestamptz, hash text, may_repeat boolean, delivers boolean)`;
  let lines: string[][] = [];
  const store = async (): Promise<void> => {
    const column = (index: number): string[] => lines.map((line) => line[index] ?? '');
    await sql`
      insert into chaos_posts
      select id, to_timestamp(ms / 1000), hash, may_repeat = 'true', delivers = 'true'
      from unnest(${column(0)}::uuid[], ${column(1)}::float8[], ${column(2)}::text[], ${column(3)}::text[],
                  ${column(4)}::text[]) as post (id, ms, hash, may_repeat, delivers)`;
    lines = [];
  };
  for await (const line of createInterface({ input: createReadStream(file) })) {
    lines.push(line.split('\t'));
    if (lines.length === CHUNK) await store();
  }
  if (lines.length > 0) await store();
  for (const table of ['chaos_posts', 'chaos_claims', 'chaos_slots']) {
    await sql`create index on ${sql(table)} (delivery_id)`;
  }
  await sql`analyze`;
}

async function loadLedger(sql: Tx, ledger: Ledger): Promise<void> {
  await sql`create table chaos_streams (stream uuid primary key, fate text)`;
  for (const fate of ['committed', 'rolledBack', 'unknown'] as const) {
    await sql`insert into chaos_streams select unnest(${ledger[fate]}::uuid[]), ${fate}`;
  }
}

async function readFigures(sql: Tx): Promise<Record<string, number>> {
  const [row] = await sql<[Record<string, number>]>`
    select
      (select count(*)::int from deliveries) as deliveries,
      (select count(*)::int from chaos_posts) as posts,
      (select count(*)::int from deliveries where status = 'entregue') as entregue,
      (select count(*)::int from deliveries where status = 'erro') as erro,
      (select count(*)::int from attempts) as attempts,
      (select count(*)::int from attempts where outcome = 'desconhecido') as "attempts lost",
      (select count(*)::int from attempts where late) as "attempts reported late",
      (select count(*)::int from chaos_slots where is_booked) as "failures booked for five lost in a row",
      (select count(*)::int from chaos_posts where may_repeat) as "broken on a used connection",
      (select count(*)::int from (
        select from chaos_posts where delivers group by delivery_id having count(*) > 1) twice) as "sent again after a 2xx",
      (select count(*)::int from chaos_streams where fate = 'rolledBack') as "events rolled back",
      (select count(*)::int from chaos_streams where fate = 'unknown') as "commits without an answer"`;
  return row;
}

async function findFaults(sql: Tx): Promise<Record<string, number>> {
  const tolerance = `${TOLERANCE_MS} milliseconds`;
  const [row] = await sql<[Record<string, number>]>`
    select
      (select count(*)::int from chaos_streams s
       where fate = 'committed' and not exists (select from events e where e.stream = s.stream)) as "lost commits",
      (select count(*)::int from messages m
       where fan_out <> (select count(*) from deliveries d where d.event_id = m.event_id)) as "lost deliveries",
      (select count(*)::int from deliveries where status not in ('entregue', 'erro')) as "stuck",
      (select count(*)::int from deliveries d where status = 'entregue'
         and not exists (select from chaos_posts p where p.delivery_id = d.id and p.delivers)) as "entregue but never received",
      (select count(*)::int from chaos_streams s join events e using (stream)
       where s.fate = 'rolledBack') as "rolled back but there",
      (select count(*)::int from chaos_posts p
       where not exists (select from deliveries d where d.id = p.delivery_id)) as "sent of a rolled-back transaction",
      (select count(*)::int from chaos_posts p join deliveries d on d.id = p.delivery_id
         join messages m on m.event_id = d.event_id
       where p.hash <> encode(sha256(m.body), 'hex')) as "sent with other bytes",
      (select count(*)::int from (
         select from messages m join deliveries d using (event_id)
         group by sha256(m.body), d.webhook_id having count(*) > 1) twice) as "same bytes under two delivery ids",
      (select count(*)::int from chaos_orphans) as "POSTs without an attempt row of their time",
      (select count(*)::int from (
         select p.delivery_id, count(*) filter (where not may_repeat) as posts from chaos_posts p group by 1) seen
       where posts > (select count(distinct number) from attempts a where a.delivery_id = seen.delivery_id)
      ) as "deliveries with more POSTs than attempts",
      (select count(*)::int from chaos_claims where at < due) as "claimed before due",
      (select count(*)::int from chaos_posts p
       where p.at < (select min(due) from chaos_claims c where c.delivery_id = p.delivery_id) - ${tolerance}::interval
      ) as "sent before due",
      (select count(*)::int from deliveries where failures > 6 or (status = 'erro') <> (failures = 6)
         and status <> 'entregue') as "failures not six",
      (select count(*)::int from deliveries d
       where failures <> (select count(*) from attempts a where a.delivery_id = d.id and not a.late
                            and a.outcome not in ('entregue', 'desconhecido'))
                       + (select count(*) from chaos_slots s where s.delivery_id = d.id and s.is_booked)
      ) as "failures not those of the rows",
      (select count(*)::int from deliveries d
       where d.attempts <> (select count(*) from attempts a where a.delivery_id = d.id and not a.late)
      ) as "attempts without a row",
      (select count(*)::int from chaos_slots s
         left join attempts a on a.delivery_id = s.delivery_id and a.number = s.number and not a.late
       where s.failures < 6 and abs(extract(epoch from s.next - case
           when s.is_booked then s.at else a.started_at + a.duration_ms * interval '1 millisecond' end)
         - (${RETRY_DELAYS_S as readonly number[] as number[]}::int[])[s.failures]) > 0.003) as "retries off schedule",
      (select count(*)::int from flights()) as "leases left",
      (select count(*)::int from pending) as "rows left pending"`;
  return row;
}

/** A lost attempt may have been sent from its claim on. Its row says when the lease began, which lapseLeases moves back. */
async function findOrphans(sql: Tx): Promise<readonly unknown[]> {
  await sql.unsafe(`
    create table chaos_orphans as
    select p.* from chaos_posts p
    where not exists (
      select from attempts a
      left join chaos_claims c on c.delivery_id = a.delivery_id and c.number = a.number and a.outcome = 'desconhecido'
      cross join lateral (select coalesce(c.at, a.started_at) as at) start
      where a.delivery_id = p.delivery_id and p.at >= start.at - interval '${NOTED_LATE_MS} milliseconds'
        and p.at <= start.at + coalesce(a.duration_ms * interval '1 millisecond', lease())
                    + interval '${TOLERANCE_MS} milliseconds')`);
  return sql`
    select s.*,
           (select json_agg(p order by p.at) from chaos_posts p where p.delivery_id = s.delivery_id) as posts,
           (select json_agg(c order by c.at) from chaos_claims c where c.delivery_id = s.delivery_id) as claims,
           (select json_agg(a order by a.started_at) from (
              select number, late, outcome, started_at, duration_ms, poller from attempts where delivery_id = s.delivery_id
            ) a) as attempts
    from chaos_orphans s
    limit 5`;
}

/** Judges the run whose receiver wrote `file`. */
export async function judge(ledger: Ledger, file: string, sql: Sql): Promise<Verdict> {
  await loadPosts(sql, file);
  await loadLedger(sql, ledger);
  const orphans = await findOrphans(sql);
  const [figures, faults] = [await readFigures(sql), await findFaults(sql)];
  const [late] = await sql<[{ ms: number }]>`
    select coalesce(max(extract(epoch from a.started_at - p.at) * 1000), 0)::int as ms
    from attempts a join lateral (
      select max(at) as at from chaos_posts p
      where p.delivery_id = a.delivery_id and p.at <= a.started_at + a.duration_ms * interval '1 millisecond'
    ) p on true
    where a.duration_ms is not null and p.at < a.started_at and a.number = 1`;
  return { figures: { ...figures, 'latest start noted after its POST (ms)': late.ms }, faults, orphans };
}
