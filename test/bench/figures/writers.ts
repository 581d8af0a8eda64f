/**
 * Writers: what the outbox costs the transaction that appends. Eight writers append events as fast as they can: with
 * one subscribed webhook, and, in turn, the same transaction on the same tables without the outbox (the event row alone,
 * same unique keys, same checks). Everything is durable. No poller runs.
 */
import { randomUUID } from 'node:crypto';
import { createDatabase, insertWebhooks, append } from '../carteiro.ts';
import { atLeast, type Bench, type Figure, type Measured, reported } from '../figure.ts';
import { connect } from '../harness/server.ts';
import { median } from '../harness/statistics.ts';
import type { Sql } from '../../../src/db/pool.ts';
import { EVENT, pathsOf, dataOf } from '../workload.ts';

const WRITERS = 8;
const DATABASE = 'writers';
const PARTNERS = 8;

type Write = (sql: Sql, partner: string) => Promise<unknown>;

const withOutbox: Write = (sql, partner) => append(sql, randomUUID(), partner);

/** As append_event writes it: the version is read, then the event inserted, in a function of the same language. */
const withoutOutbox: Write = async (sql, partner) => {
  const id = randomUUID();
  await sql`select append_bare(${id}, 0, ${EVENT}, ${partner}, ${dataOf(id)}::text::json, 'bench')`;
};

async function createBareAppend(sql: Sql): Promise<void> {
  await sql`
    create function append_bare(p_stream uuid, p_expected int, p_type text, p_partner uuid, p_data json, p_actor text)
    returns uuid language plpgsql as $$
    declare
      occurred constant timestamptz := date_trunc('milliseconds', clock_timestamp());
      current_version integer;
      event_id uuid;
    begin
      select coalesce(max(e.version), 0) into current_version from events e where e.stream = p_stream;
      if current_version = p_expected then
        insert into events (stream, version, type, partner_id, data, occurred_at, actor)
        values (p_stream, p_expected + 1, p_type, p_partner, p_data, occurred, p_actor)
        on conflict (stream, version) do nothing
        returning id into event_id;
      end if;
      if event_id is null then
        raise exception 'stream % is not at version %', p_stream, p_expected;
      end if;
      return event_id;
    end $$`;
}

async function perSecond(url: string, partners: readonly string[], seconds: number, write: Write): Promise<number> {
  const sql = connect(url, WRITERS);
  const until = performance.now() + seconds * 1_000;
  let commits = 0;
  async function writer(index: number): Promise<void> {
    const partner = partners[index % partners.length] ?? '';
    while (performance.now() < until) {
      await write(sql, partner);
      commits += 1;
    }
  }
  try {
    await Promise.all(Array.from({ length: WRITERS }, (_, index) => write(sql, partners[index] ?? '')));
    const startedMs = performance.now();
    await Promise.all(Array.from({ length: WRITERS }, (_, index) => writer(index)));
    return commits / ((performance.now() - startedMs) / 1_000);
  } finally {
    await sql.end({ timeout: 5 });
  }
}

async function run({ server, progress, isQuick, rounds }: Bench): Promise<Measured[]> {
  const url = await createDatabase(server, DATABASE);
  const turns = rounds * 2;
  const seconds = isQuick ? 1 : 4;
  const partners = await server.on(DATABASE, async (sql) => {
    await createBareAppend(sql);
    const paths = pathsOf(PARTNERS, 'w');
    const webhooks = await insertWebhooks(sql, 'http://127.0.0.1:9', paths);
    return webhooks.map((webhook) => webhook.partnerId);
  });
  await perSecond(url, partners, 1, withOutbox);
  const own: number[] = [];
  const bare: number[] = [];
  await progress.phase('writers', turns * 2 * (seconds + 20), async (report) => {
    for (let poll = 1; poll <= turns; poll += 1) {
      report(`turn ${poll} of ${turns}`);
      bare.push(await perSecond(url, partners, seconds, withoutOutbox));
      own.push(await perSecond(url, partners, seconds, withOutbox));
    }
  });
  await server.drop(DATABASE);
  const share = median(own.map((rate, poll) => (rate / (bare[poll] ?? Number.NaN)) * 100));
  progress.note(`writers: ${median(own).toFixed(0)}/s with the outbox, ${median(bare).toFixed(0)}/s without`);
  return [
    reported('writers_per_second', '8 writers, with the outbox', median(own), '/s'),
    reported('writers_bare_per_second', '8 writers, without', median(bare), '/s'),
    reported('writers_share', 'writers with the outbox against without', share, '%', atLeast(60)),
  ];
}

export const writers: Figure = {
  id: 'writers',
  about: 'appends/s of 8 writers with one subscribed webhook, against the same transaction without the outbox',
  run,
};
