/**
 * Writers that begin, commit and roll back in any order, small and large, while a session arms lanes and remembers what it
 * took, now and then in vain because another one is arming, or because another one holds lanes: in the end no arrival may
 * have been passed over. Seeded.
 */
import type { ReservedSql } from 'postgres';
import type { Sql } from '../../src/db/pool.ts';
import { armLanes, ARMING_LOCK } from '../../src/delivery/arrivals.ts';
import { createRandom } from '../support/random.ts';

const WRITERS = 3;
const STEPS = 300;
const LANES = 7;
/** Two of the largest fill a turn, and leave some over. */
const SIZES = [1, 3, 2_500];

async function add(connection: ReservedSql, arrivals: number): Promise<void> {
  await connection`begin`;
  await connection`
    insert into arrivals (webhook_id)
    select l.webhook_id from lanes l, generate_series(1, ${arrivals}::int) n where l.max_in_flight = 1 + n % ${LANES}::int`;
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
    await other`select pg_advisory_xact_lock(${ARMING_LOCK})`;
    await arm();
    await other`commit`;
  };
  const armBesideClaims = async () => {
    await other`begin`;
    await other`select from lanes where max_in_flight > ${random.pick([0, LANES - 1])} for update`;
    await arm();
    await other`commit`;
  };
  // Told apart by their caps.
  await sql`insert into lanes (webhook_id, max_in_flight) select uuidv7(), n from generate_series(1, ${LANES}::int) n`;
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
  const [{ left }] = await sql<[{ left: number }]>`select count(*)::int as left from arrivals`;
  if (left > 0) throw new Error(`${left} arrivals were passed over`);
}
