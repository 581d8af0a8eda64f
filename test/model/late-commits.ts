/**
 * Writers that begin, commit and roll back in any order, small and large, while a session arms lanes and remembers what it
 * took: in the end no arrival may have been passed over. Seeded.
 */
import type { Sql } from '../../src/db/pool.ts';
import { armLanes } from '../../src/delivery/arrivals.ts';
import { createRandom } from '../support/random.ts';

const WRITERS = 3;
const STEPS = 400;
/** Two of the largest fill a turn, and leave some over. */
const SIZES = [1, 3, 2_500];

export async function commitLate(sql: Sql, seed: number): Promise<void> {
  const random = createRandom(seed);
  const poller = await sql.reserve();
  const arm = async (): Promise<boolean> => {
    const [armed] = await armLanes(poller, null);
    return armed?.more ?? false;
  };
  const writers = await Promise.all(
    Array.from({ length: WRITERS }, async () => ({ connection: await sql.reserve(), isOpen: false })),
  );
  for (let step = 0; step < STEPS; step += 1) {
    const writer = random.pick([...writers, null, null]);
    if (writer === null) await arm();
    else if (writer.isOpen) {
      await writer.connection.unsafe(random.chance(0.8) ? 'commit' : 'rollback');
      writer.isOpen = false;
    } else {
      await writer.connection`begin`;
      await writer.connection`
        insert into arrivals (webhook_id) select uuidv7() from generate_series(1, ${random.pick(SIZES)}::int)`;
      writer.isOpen = true;
    }
  }
  for (const { connection, isOpen } of writers) {
    if (isOpen) await connection`commit`;
    connection.release();
  }
  while (await arm());
  poller.release();
  const [{ left }] = await sql<[{ left: number }]>`select count(*)::int as left from arrivals`;
  if (left > 0) throw new Error(`${left} arrivals were passed over`);
}
