/** Two installations in one server, in one database or in two, work side by side and see nothing of each other. */
import { beforeAll, describe, expect, test } from 'vitest';
import { sealAll } from '../../src/audit/seals/sealer.ts';
import { verifySeals } from '../../src/audit/seals/verify.ts';
import { type Installation, searchPathOf } from '../../src/db/installation.ts';
import { migrate } from '../../src/db/migrations/migrate.ts';
import { countSealable } from '../support/count-sealable.ts';
import { connectTo } from '../support/connect.ts';
import { type CoreDatabase, createCoreDatabase, installationOfItsOwn } from '../support/core-database.ts';
import { startEngine } from '../support/engine.ts';
import { commitEvents, insertSubscriber } from '../support/outbox.ts';
import { startReceiver } from '../support/receiver.ts';
import { untilSettled } from '../support/settled.ts';
import { claimDue } from '../support/poll.ts';
import { silentLog } from '../support/silent-log.ts';
import { openPool } from '../support/database.ts';

const PURPOSES = ['appending', 'judging', 'sealing'];

type Installed = Awaited<ReturnType<typeof install>>;

async function install(core: CoreDatabase, installation: Installation) {
  const { schema } = installation;
  await migrate(core.url, silentLog, { installation });
  const pool = openPool(core.url, { schema, name: `carteiro ${schema}`, max: 4 });
  const sql = connectTo(core.url, { max: 2, connection: { search_path: searchPathOf(schema) } });
  const receiver = await startReceiver();
  const { partnerId } = await insertSubscriber(sql, receiver.url);
  const engine = startEngine(pool, { now: () => null });
  return { pool, sql, engine, receiver, partnerId };
}

describe.each(['in one database', 'in two databases of one server'])('two installations %s', (where) => {
  let one: Installed;
  let other: Installed;

  beforeAll(async () => {
    const shared = await createCoreDatabase();
    const cores = where === 'in one database' ? [shared] : [shared, await createCoreDatabase()];
    // In two databases even the names are the same.
    const name = installationOfItsOwn();
    one = await install(shared, name);
    other = await install(cores.at(-1) as CoreDatabase, cores.length === 1 ? installationOfItsOwn() : name);
  });

  test('each delivers what it appended, and nothing else', async () => {
    await commitEvents(one.sql, one.partnerId, 3);
    expect(await other.engine.poll()).toBe(0);
    await commitEvents(other.sql, other.partnerId, 2);
    while ((await one.engine.poll()) > 0);
    expect([one.receiver.posts.length, other.receiver.posts.length]).toEqual([3, 0]);
    while ((await other.engine.poll()) > 0);
    expect([one.receiver.posts.length, other.receiver.posts.length]).toEqual([3, 2]);
  });

  test('a lock that one holds is free for the other', async () => {
    await one.sql.begin(async (tx) => {
      for (const purpose of PURPOSES) await tx`select pg_advisory_xact_lock(advisory_lock(${purpose}))`;
      for (const purpose of PURPOSES) {
        const [row] = await other.sql`select pg_try_advisory_xact_lock(advisory_lock(${purpose})) as taken`;
        expect({ purpose, ...row }).toEqual({ purpose, taken: true });
      }
      await commitEvents(other.sql, other.partnerId, 1);
      while ((await other.engine.poll()) > 0);
    });
    expect(other.receiver.posts).toHaveLength(3);
  });

  test.runIf(where === 'in one database')(
    'one session that works for both, as a pooler’s may, takes what is pending of each',
    async () => {
      await commitEvents(one.sql, one.partnerId, 1);
      await commitEvents(other.sql, other.partnerId, 1);
      const session = await one.sql.reserve();
      const taken: number[] = [];
      for (const { pool } of [one, other]) {
        await session`select set_config('search_path', ${searchPathOf(pool.schema)}, false)`;
        await session`update lanes set keeper = null`;
        await session`begin`;
        taken.push((await claimDue(session, 'both/1', 10)).deliveries.length);
        await session`commit`;
      }
      await session`select set_config('search_path', ${searchPathOf(one.pool.schema)}, false)`;
      session.release();
      expect(taken).toEqual([1, 1]);
    },
  );

  test('each seals its own rows', async () => {
    for (const { sql, pool } of [one, other]) {
      await untilSettled(sql);
      const rows = await countSealable(sql);
      expect(await sealAll(pool)).toMatchObject({ rows });
      expect((await verifySeals(pool)).findings).toEqual([]);
    }
  });
});
