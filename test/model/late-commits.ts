/**
 * Writers that begin, commit and roll back in any order, small and large, while a session arms lanes and remembers what it
 * took, now and then in vain because another one is arming, or because another one holds lanes: in the end no arrival may
 * have been passed over. Seeded.
 */
import type { ReservedSql } from 'postgres';
import type { Sql } from '../../src/db/pool.ts';
import { armLanes, ARRIVALS_A_TURN } from '../support/arm-lanes.ts';
import { createRandom } from '../support/random.ts';

const WRITERS = 3;
const STEPS = 300;
const LANES = 7;
/** Two of the largest fill a turn, and leave some over. */
const SIZES = [1, 3, 2_500];

async function add(connection: ReservedSql, arrivals: number): Promise<void> {
  await connection`begin`;
  await connection`
    insert into arrivals (webhook_id, partner_id, kind, due_at)
    select l.webhook_id, l.partner_id, 'due', now()
    from lanes l, generate_series(1, ${arrivals}::int) n
    where l.max_in_flight = 1 + n % ${LANES}::int`;
}

export async function commitLate(sql: Sql, seed: number): Promise<void> {
  const random = createRandom(seed);
  const poller = await sql.reserve();
  const arm = async (): Promise<boolean> => {
    const [armed] = await armLanes(poller, null);
    return armed?.more ?? false;
  };
  const other = await sql.reserve();
  const armBesideAnother = async () => {
    await other`begin`;
    await other`select pg_advisory_xact_lock(advisory_lock('arming'))`;
    await arm();
    await other`commit`;
  };
  const armBesideClaims = async () => {
    await other`begin`;
    await other`select from lanes where max_in_flight > ${random.pick([0, LANES - 1])} for update`;
    await arm();
    await other`commit`;
  };
  await makeLanes(sql);
  const writers = await Promise.all(
    Array.from({ length: WRITERS }, async () => ({ connection: await sql.reserve(), isOpen: false })),
  );
  // First what luck seldom brings: a transaction that is open during a full turn, and commits after it.
  await add(other, 1);
  await add(poller, 2 * Math.max(...SIZES));
  await poller`commit`;
  await arm();
  await other`commit`;
  for (let step = 0; step < STEPS; step += 1) {
    const writer = random.pick([...writers, null, null]);
    if (writer === null) await random.pick([arm, arm, armBesideAnother, armBesideClaims])();
    else if (writer.isOpen) {
      await writer.connection.unsafe(random.chance(0.8) ? 'commit' : 'rollback');
      writer.isOpen = false;
    } else {
      await add(writer.connection, random.pick(SIZES));
      writer.isOpen = true;
    }
  }
  for (const { connection, isOpen } of writers) {
    if (isOpen) await connection`commit`;
    connection.release();
  }
  while (await arm());
  poller.release();
  other.release();
  await expectAllTaken(sql);
}

/** What commits while a turn is under way, after the snapshot that it will remember. */
export async function commitBesideArming(sql: Sql): Promise<void> {
  await makeLanes(sql);
  const [poller, other] = [await sql.reserve(), await sql.reserve()];
  await poller`set statement_timeout = '30s'`;
  const [{ pid }] = await poller<[{ pid: number }]>`select pg_backend_pid() as pid`;
  await add(other, 1);
  await other`commit`;
  await other`begin`;
  await other`select from arrivals for update`;
  const arming = armLanes(poller, null).execute();
  const isBlocked = async () => (await sql`select from pg_locks where pid = ${pid} and not granted`).length > 0;
  while (!(await isBlocked()));
  await sql`
    insert into arrivals (webhook_id, partner_id, kind, due_at) select webhook_id, partner_id, 'due', now() from lanes`;
  await other`commit`;
  await arming;
  await armLanes(poller, null);
  poller.release();
  other.release();
  await expectAllTaken(sql);
}

/** A full turn in which there is an arrival of a transaction that this server has not seen yet, as after a restore. */
export async function armFromElsewhere(sql: Sql): Promise<void> {
  await makeLanes(sql);
  const poller = await sql.reserve();
  await add(poller, ARRIVALS_A_TURN - 1);
  await poller`commit`;
  await sql`
    insert into arrivals (webhook_id, partner_id, kind, due_at, tx)
    select webhook_id, partner_id, 'due', now(), '999999999999' from lanes limit 1`;
  await armLanes(poller, null);
  await add(poller, 1);
  await poller`commit`;
  await armLanes(poller, null);
  poller.release();
  await expectAllTaken(sql);
}

/** Told apart by their caps. */
async function makeLanes(sql: Sql): Promise<void> {
  await sql`
    insert into lanes (webhook_id, partner_id, max_in_flight)
    select uuidv7(), uuidv7(), n from generate_series(1, ${LANES}::int) n`;
}

async function expectAllTaken(sql: Sql): Promise<void> {
  const [{ left }] = await sql<[{ left: number }]>`select count(*)::int as left from arrivals`;
  if (left > 0) throw new Error(`${left} arrivals were passed over`);
}
