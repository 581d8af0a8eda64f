/** What the short way to a first attempt leaves to the long one, and that neither waits nor forgets. */
import type { ReservedSql } from 'postgres';
import type { Pool, Sql } from '../../src/db/pool.ts';
import { freeSlots } from '../../src/delivery/queue/arrivals.ts';
import { type Claimed, takeTurn } from '../../src/delivery/queue/claim.ts';
import { claimDue } from '../support/claim-due.ts';
import { commitEvents, insertSubscriber } from '../support/outbox.ts';
import { neverBlocked } from './lane-wakes.ts';

const SLOTS = 64;

interface World {
  readonly pool: Pool;
  readonly sql: Sql;
  readonly now: Date;
}

interface Subscriber {
  readonly partnerId: string;
  readonly webhookId: string;
}

async function subscribe({ sql }: World): Promise<Subscriber> {
  const { partnerId, id } = await insertSubscriber(sql);
  return { partnerId, webhookId: id };
}

const turn = ({ pool, now }: World, claim: string, slots = SLOTS): Promise<Claimed> =>
  pool.transaction((tx) => takeTurn(tx, claim, slots, now));

const claimedOf = (claimed: Claimed, { webhookId }: Subscriber) =>
  claimed.deliveries.filter((delivery) => delivery.webhookId === webhookId).length;

async function leaveOthers(world: World): Promise<void> {
  const { sql } = world;
  const [muted, inOrder] = [await subscribe(world), await subscribe(world)];
  await sql`update lanes set muted_at = now() where webhook_id = ${muted.webhookId}`;
  await sql`update lanes set in_order = true where webhook_id = ${inOrder.webhookId}`;
  await commitEvents(sql, muted.partnerId, 1);
  const [{ stream }] = await sql<[{ stream: string }]>`select gen_random_uuid() as stream`;
  for (const version of [0, 1]) {
    await sql`
      select append_event(${stream}, ${version}, 'desembolso.falhou', ${inOrder.partnerId},
               json_build_object('emprestimo_id', ${stream}::text, 'numero_emprestimo', '2026-00000001', 'motivo', 'conta encerrada'),
               'test')`;
  }
  const claimed = await turn(world, 'p/others');
  if (claimedOf(claimed, muted) > 0) throw new Error('sent to a muted webhook');
  if (claimedOf(claimed, inOrder) !== 1) throw new Error('events of one loan are in flight out of order');
}

/** A delivery that is put off after its append, and one that waits on a lane when another one arrives. */
async function heedTimes(world: World): Promise<void> {
  const { sql, now } = world;
  const [later, waiting] = [await subscribe(world), await subscribe(world)];
  await commitEvents(sql, later.partnerId, 1);
  await sql`
    update deliveries set next_attempt_at = ${now}::timestamptz + interval '1 hour' where webhook_id = ${later.webhookId}`;
  if (claimedOf(await turn(world, 'p/later'), later) > 0) throw new Error('claimed before it is due');
  await commitEvents(sql, waiting.partnerId, 1);
  await sql`
    update lanes set next_due_at = ${now}::timestamptz - interval '1 second' where webhook_id = ${waiting.webhookId}`;
  await sql`update deliveries set next_attempt_at = next_attempt_at - interval '1 minute' where webhook_id = ${waiting.webhookId}`;
  await commitEvents(sql, waiting.partnerId, 1);
  const { deliveries } = await turn(world, 'p/waiting', 8);
  const [{ oldest }] = await sql<[{ oldest: string }]>`
    select id as oldest from deliveries where webhook_id = ${waiting.webhookId} order by next_attempt_at limit 1`;
  if (deliveries[0]?.id !== oldest) throw new Error('what arrived overtook what is due on its lane');
}

/** As many lanes as there are slots have something that arrived, few or many, and one has waited. */
async function leaveSlots(world: World, lanes: number): Promise<void> {
  const { sql, now } = world;
  const waits = await subscribe(world);
  await commitEvents(sql, waits.partnerId, 1);
  await sql`delete from arrivals`;
  await sql`
    update lanes set next_due_at = ${now}::timestamptz - interval '1 second', scan_from = '-infinity'
    where webhook_id = ${waits.webhookId}`;
  for (let lane = 0; lane < lanes; lane += 1) await commitEvents(sql, (await subscribe(world)).partnerId, 1);
  if (claimedOf(await turn(world, `p/slots/${lanes}`, lanes), waits) === 0)
    throw new Error('nothing was left to what waits');
}

/** The lane is held by a claim of another session, then its delivery by something else. */
async function waitForNobody(world: World): Promise<void> {
  const { sql, now } = world;
  const { partnerId, webhookId } = await subscribe(world);
  const other = await sql.reserve();
  const own = await sql.reserve();
  try {
    const [{ pid }] = await own<[{ pid: number }]>`select pg_backend_pid() as pid`;
    for (const locked of ['lanes', 'deliveries'] as const) {
      await commitEvents(sql, partnerId, 2);
      await other`begin`;
      await other`
        select from ${other(locked)} where webhook_id = ${webhookId}
          ${locked === 'lanes' ? other`` : other`and claimed_at is null`} limit 1 for update`;
      const working = new AbortController();
      const work = turnOf(own, `own/${locked}`, now).finally(() => working.abort());
      await Promise.all([work, neverBlocked(sql, pid, working.signal)]);
      await other`commit`;
      await turnOf(own, `own/${locked}/again`, now);
      const left = await sql`select from deliveries where webhook_id = ${webhookId} and claimed_at is null`;
      if (left.length > 0) throw new Error('what another session held is not claimed: its lane sleeps');
    }
  } finally {
    other.release();
    own.release();
  }
}

async function turnOf(session: ReservedSql, claim: string, now: Date): Promise<void> {
  await session`begin`;
  await takeTurn(session, claim, SLOTS, now);
  await session`commit`;
}

/** What another poller holds already, a window that fills up, and a partner that holds its share. */
async function keepBounds(world: World): Promise<void> {
  const { pool, sql, now } = world;
  const [held, filled, sated] = [await subscribe(world), await subscribe(world), await subscribe(world)];
  await commitEvents(sql, held.partnerId, 1);
  await sql`update lanes set next_due_at = now() where webhook_id = ${held.webhookId}`;
  await sql.begin((tx) => claimDue(tx, 'other/1', SLOTS, now));
  if (claimedOf(await turn(world, 'p/held'), held) > 0) throw new Error('what another poller holds was claimed');
  let flying = 0;
  for (let event = 0; event < 10; event += 1) {
    await commitEvents(sql, filled.partnerId, 1);
    flying += claimedOf(await turn(world, `p/fill/${event}`), filled);
  }
  if (flying !== 8) throw new Error(`${flying} in flight, over its window`);
  await commitEvents(sql, sated.partnerId, 1);
  const shares = { reserve: 8, holders: new Map([[sated.partnerId, 112]]), sated: [] };
  const { deliveries } = await pool.transaction((tx) => takeTurn(tx, 'p/sated', 16, now, undefined, shares));
  if (deliveries.length > 0) throw new Error('a partner was given more than its share');
}

/** A lane that has less in flight than its window, but as much as it may; and one that is told of answers while it is full. */
async function hearOfSlots(world: World): Promise<void> {
  const { sql, pool } = world;
  const [failing, full] = [await subscribe(world), await subscribe(world)];
  await sql`update lanes set failing_since = now() where webhook_id = ${failing.webhookId}`;
  await commitEvents(sql, failing.partnerId, 2);
  const { deliveries } = await turn(world, 'p/one');
  const first = deliveries.find(({ webhookId }) => webhookId === failing.webhookId);
  await sql`
    update deliveries
    set status = 'entregue', next_attempt_at = null, finished_at = now(), claimed_by = null, claimed_at = null
    where id = ${first?.id ?? null}`;
  await sql`update lanes set window_size = 4, in_flight = 4 where webhook_id = ${full.webhookId}`;
  await pool.transaction((tx) => freeSlots(tx, [failing, { ...full, good: 2, goodMs: 2 }]));
  if (claimedOf(await turn(world, 'p/two'), failing) !== 1) throw new Error('a slot came free, and its lane sleeps');
  const [{ size }] = await sql<[{ size: number }]>`
    select window_size as size from lanes where webhook_id = ${full.webhookId}`;
  if (size !== 6) throw new Error(`a window of 4 is ${size} after two good answers, and never grows`);
}

/** A turn that is rolled back has taken nothing: neither what arrived, nor its memory of it. */
async function crash(world: World): Promise<void> {
  const { sql, now } = world;
  const { partnerId, webhookId } = await subscribe(world);
  await commitEvents(sql, partnerId, 1);
  const session = await sql.reserve();
  try {
    await session`begin`;
    const lost = await takeTurn(session, 'p/lost', SLOTS, now);
    await session`rollback`;
    await session`begin`;
    const again = await takeTurn(session, 'p/again', SLOTS, now);
    await session`commit`;
    if (lost.deliveries.length !== 1 || again.deliveries.length !== 1) throw new Error('a lost turn took what arrived');
  } finally {
    session.release();
  }
  await sql.begin(async (tx) => {
    const { deliveries } = await claimDue(tx, 'p/none', SLOTS, now);
    if (deliveries.length > 0) throw new Error(`a first attempt of ${webhookId} is claimed twice`);
  });
}

export async function serveFirstAttempts(pool: Pool, sql: Sql): Promise<void> {
  const world = { pool, sql, now: new Date(Date.now() + 60_000) };
  const leaveSlotsTo = [2, 4].map((lanes) => (each: World) => leaveSlots(each, lanes));
  for (const part of [leaveOthers, heedTimes, keepBounds, ...leaveSlotsTo, hearOfSlots, waitForNobody, crash])
    await part(world);
}
