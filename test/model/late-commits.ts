/**
 * Writers that begin, commit and roll back in any order, small ones and more than a turn follows by row, while a poller takes turns and
 * remembers how far it has followed, now and then without getting at its lanes: in the end no delivery may have been passed over. Seeded.
 */
import type { Pool, Sql } from '../../src/db/pool.ts';
import { DELIVERED } from '../support/delivered.ts';
import { startHeldPoller } from '../support/held-poller.ts';
import { commitEvents, insertSubscriber } from '../support/outbox.ts';
import { createRandom } from '../support/random.ts';

const WRITERS = 3;
const STEPS = 300;
const PARTNERS = 3;
const SIZES = [1, 1, 1, 3, 20];
/** More than poll_lanes claims of one snapshot. */
const VERY_MANY = 4_100;
/** So many of them are delivered: more than a poll claims. */
const KEPT = 200;

export async function commitLate(pool: Pool, sql: Sql, seed: number): Promise<void> {
  const random = createRandom(seed);
  const partners: string[] = [];
  for (let partner = 0; partner < PARTNERS; partner += 1) partners.push((await insertSubscriber(sql)).partnerId);
  const poller = startHeldPoller(pool, 'p', 64, Date.now() + 60_000);
  let atS = 0;
  const tick = () => poller.tick((atS += random.pick([0, 0.01, 1])));
  const poll = async () => {
    await tick();
    if (random.chance(0.7)) await poller.end(DELIVERED, '', 1 + random.below(64));
  };
  // A record would wait for the lock: of what is locked only a turn takes no notice.
  const turnBesideALock = async () => {
    await sql.begin(async (tx) => {
      await tx`select from ${tx(random.pick(['lanes', 'pending']))} for update`;
      await tick();
    });
  };
  const writers = await Promise.all(
    Array.from({ length: WRITERS }, async () => ({ connection: await sql.reserve(), isOpen: false })),
  );
  // First what luck seldom brings: a turn that follows very many, beside a transaction that was open during the turn before, and one that
  // commits after it.
  const [first, second] = writers as [(typeof writers)[number], (typeof writers)[number]];
  const [behind, many, late] = partners as [string, string, string];
  await first.connection`begin`;
  await commitEvents(first.connection, behind, 1);
  // Its lane is read beyond it meanwhile.
  await commitEvents(sql, behind, 40);
  while ((await tick()) > 0) await poller.end(DELIVERED);
  await second.connection`begin`;
  await commitEvents(second.connection, late, 1);
  await tick();
  await first.connection`commit`;
  await commitEvents(sql, many, VERY_MANY);
  await poll();
  // To deliver them all takes most of the time and shows no more than the first ones.
  await sql`
    update deliveries set status = 'erro', next_attempt_at = null, finished_at = now()
    where id in (select id from deliveries where partner_id = ${many} and status = 'pendente' order by id offset ${KEPT})`;
  await second.connection`commit`;
  for (let step = 0; step < STEPS; step += 1) {
    const writer = random.pick([...writers, null, null]);
    if (writer === null) await random.pick([poll, poll, turnBesideALock])();
    else if (writer.isOpen) {
      await writer.connection.unsafe(random.chance(0.8) ? 'commit' : 'rollback');
      writer.isOpen = false;
    } else {
      await writer.connection`begin`;
      await commitEvents(writer.connection, random.pick(partners), random.pick(SIZES));
      writer.isOpen = true;
    }
  }
  for (const { connection, isOpen } of writers) {
    if (isOpen) await connection`commit`;
    connection.release();
  }
  for (let idle = 0; idle < 3;) {
    idle = (await poller.tick((atS += 0.1))) > 0 || poller.flying() > 0 ? 0 : idle + 1;
    await poller.end(DELIVERED);
  }
  const [{ left }] = await sql<[{ left: number }]>`select count(*)::int as left from pending`;
  if (left > 0) throw new Error(`${left} deliveries were passed over`);
  const [{ twice }] = await sql<[{ twice: number }]>`select count(*)::int as twice from attempts where number > 1`;
  if (twice > 0) throw new Error(`${twice} were sent again`);
}
