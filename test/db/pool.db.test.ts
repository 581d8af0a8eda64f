import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { NOT_FOUND } from '../../src/contract/refusals.ts';
import { Pool } from '../../src/db/pool.ts';
import { leaveToCommit } from '../../src/db/transaction.ts';
import { DatabaseUnavailable, isUnavailable } from '../../src/db/unavailable.ts';
import { createTestDatabase, openPool, type TestDatabase } from '../support/database.ts';
import { createLogin } from '../support/logins.ts';
import { TcpProxy } from '../support/tcp-proxy.ts';

describe('the pool', () => {
  const deadlineMs = 2_000;
  let database: TestDatabase;
  let proxy: TcpProxy;
  let proxiedUrl: string;
  let pool: Pool;

  beforeAll(async () => {
    database = await createTestDatabase();
    ({ proxy, url: proxiedUrl } = await TcpProxy.to(database.url));
    pool = new Pool({ url: proxiedUrl, name: 'carteiro pool test', max: 2, deadlineMs });
  });

  afterAll(() => pool.close(0));

  const selectOne = (): Promise<unknown> => pool.run((sql) => sql`select 1 as one`);

  it('notices a black-holed connection by its deadline, and the next call works beside others as silent', async () => {
    await Promise.all([selectOne(), selectOne()]);
    expect(proxy.blackHole()).toBe(2);
    const startedAt = performance.now();
    await expect(selectOne()).rejects.toThrow(DatabaseUnavailable);
    const tookMs = performance.now() - startedAt;
    expect(tookMs).toBeGreaterThan(deadlineMs - 50);
    expect(await selectOne()).toEqual([{ one: 1 }]);
  });

  it('fails every call that waits on a black-holed connection, and a transaction too', async () => {
    await Promise.all([selectOne(), selectOne()]);
    proxy.blackHole();
    const outcomes = await Promise.allSettled([
      selectOne(),
      pool.transaction((tx) => tx`select 1`),
      selectOne(),
      selectOne(),
    ]);
    for (const outcome of outcomes) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { name: 'DatabaseUnavailable' } });
    }
    expect(await selectOne()).toEqual([{ one: 1 }]);
  });

  it('lets the server end a slow statement before the deadline, and keeps the connections', async () => {
    const readPids = (): Promise<{ pid: number }[]> =>
      pool.run((sql) => sql<{ pid: number }[]>`select pg_backend_pid() as pid`);
    const [before] = await readPids();
    await expect(pool.run((sql) => sql`select pg_sleep(10)`)).rejects.toMatchObject({ code: '57014' });
    const after = await Promise.all(Array.from({ length: 4 }, readPids));
    expect(after.flat()).toContainEqual(before);
  });

  it('holds no lock past its deadline when it goes silent in the middle of a statement', async () => {
    await database.sql`create table held as select 1 as one`;
    proxy.silenceAt('the last words');
    const call = pool.transaction(async (tx) => {
      await tx`update held set one = 2`;
      // Sent for the first time, it is described before its values follow.
      await tx`select ${'it'}::text as "the last words"`;
    });
    await expect(call).rejects.toThrow(DatabaseUnavailable);
    expect(await database.pool.run((sql) => sql`select one from held for update`)).toEqual([{ one: 1 }]);
  });

  it('holds no lock for long when it no longer reads what it is answered', async () => {
    await database.sql`create table unread as select 1 as one`;
    proxy.silenceAt('the last words', false);
    const call = pool.transaction(async (tx) => {
      await tx`update unread set one = 2`;
      // More than the buffers on the way take.
      await tx`select repeat('x', 1000000) as "the last words" from generate_series(1, 40)`;
    });
    await expect(call).rejects.toThrow(DatabaseUnavailable);
    expect(await database.pool.run((sql) => sql`select one from unread for update`)).toEqual([{ one: 1 }]);
  });

  it('has the server find out by itself that a client is gone', async () => {
    const [{ idleS }] = await pool.run(
      (sql) => sql<[{ idleS: number }]>`select current_setting('tcp_keepalives_idle')::int as "idleS"`,
    );
    expect(idleS).toBe(60);
  });

  it('rolls a transaction back when its work throws', async () => {
    const failing = pool.transaction(async (tx) => {
      await tx`create table never_made (one int)`;
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect(await database.sql`select to_regclass('never_made') as made`).toEqual([{ made: null }]);
  });

  it('rolls a transaction back when its work refuses, and hands the refusal on', async () => {
    const refusing = pool.transaction(async (tx) => {
      await tx`create table never_allowed (one int)`;
      return NOT_FOUND;
    });
    expect(await refusing).toEqual(NOT_FOUND);
    expect(await database.sql`select to_regclass('never_allowed') as made`).toEqual([{ made: null }]);
    expect(await pool.run((sql) => sql`select pg_current_xact_id_if_assigned() as open`)).toEqual([{ open: null }]);
  });

  it('hands on a refusal over a statement that failed', async () => {
    const refusing = pool.transaction(async (tx) => {
      await tx`select 1 / 0`.catch(() => undefined);
      return NOT_FOUND;
    });
    expect(await refusing).toEqual(NOT_FOUND);
    expect(await pool.run((sql) => sql`select 1 as one`)).toEqual([{ one: 1 }]);
  });

  describe('whose connection is lost while it is new', () => {
    let fresh: Pool;
    let proxy: TcpProxy;
    const strays: unknown[] = [];
    const keep = (error: unknown) => strays.push(error);
    const others = process.listeners('unhandledRejection');
    beforeEach(async () => {
      const through = await TcpProxy.to(database.url);
      ({ proxy } = through);
      fresh = new Pool({ url: through.url, name: 'new connections', max: 2, deadlineMs: 20_000, monotonicMs: () => 0 });
      process.removeAllListeners('unhandledRejection').on('unhandledRejection', keep);
    });
    afterEach(async () => {
      await fresh.close(0);
      await vi.waitUntil(() => proxy.open === 0, 300_000);
      process.off('unhandledRejection', keep);
      for (const other of others) process.on('unhandledRejection', other);
    });

    /** How each call ended, and that of one made after them. */
    const endsOf = async (...calls: readonly Promise<unknown>[]): Promise<string[]> => {
      const outcomes = await Promise.allSettled(calls);
      await fresh.transaction((tx) => tx`select 1`);
      return outcomes.map((outcome) => (outcome.status === 'rejected' ? String(outcome.reason) : 'done'));
    };
    const REFUSED = 'DatabaseUnavailable: the database is out of reach';
    const LOST = 'DatabaseUnavailable: the connection was lost';

    it('fails the call that is refused and no other', async () => {
      proxy.refuseNext();
      const one = fresh.transaction((tx) => tx`select 1`);
      const other = fresh.transaction((tx) => tx`select 1`);
      expect(await endsOf(one, other)).toEqual([REFUSED, 'done']);
    });

    it('takes a database without connections for one that is away, and a statement in a wrong state for a fault of its own', async () => {
      proxy.refuseNext('55000');
      await expect(fresh.run((sql) => sql`select 1`)).rejects.toThrow(DatabaseUnavailable);
      const session = () => fresh.run((sql) => sql<{ pid: number }[]>`select pg_backend_pid() as pid`);
      const before = await session();
      await fresh.run((sql) => sql`create temporary sequence unused`);
      const failed: unknown = await fresh.run((sql) => sql`select currval('unused')`).catch((error: unknown) => error);
      expect([(failed as { code?: unknown }).code, isUnavailable(failed)]).toEqual(['55000', false]);
      expect(await session()).toEqual(before);
    });

    it('lets calls share its other connection while the server has none free', async () => {
      let opened = 0;
      fresh.onOpen = () => (opened += 1);
      const { promise: mayEnd, resolve: end } = Promise.withResolvers<void>();
      const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
      const first = fresh.transaction(async (tx) => {
        await tx`select 1`;
        begin();
        await mayEnd;
      });
      await begun;
      proxy.refuseNext('53300');
      await expect(fresh.run((sql) => sql`select 1`)).rejects.toThrow(DatabaseUnavailable);
      const second = fresh.run((sql) => sql`select 1`);
      end();
      expect(await endsOf(first, second)).toEqual(['done', 'done']);
      expect(opened).toBe(2);
    });

    it('fails at once a call whose connection is cut in its first statement, and no promise that nobody holds', async () => {
      proxy.cutAt('pg_is_in_recovery');
      expect(await endsOf(fresh.transaction((tx) => tx`select 1`))).toEqual([REFUSED]);
      expect(strays).toEqual([]);
    });

    it('fails those calls alone that open a session while the catalog is locked, and goes on when it is free', async () => {
      const late = openPool(database.url, { max: 3, deadlineMs: 2_000 });
      const { promise: mayEnd, resolve: end } = Promise.withResolvers<void>();
      const { promise: locked, resolve: lock } = Promise.withResolvers<void>();
      const locking = database.sql.begin(async (tx) => {
        await tx`lock table pg_type in access exclusive mode`;
        lock();
        await mayEnd;
      });
      await locked;
      const calls = Array.from({ length: 5 }, () => late.run((sql) => sql`select 'a'::name`));
      const outcomes = await Promise.allSettled(calls);
      expect(outcomes.map((outcome) => outcome.status === 'rejected' && isUnavailable(outcome.reason))).toEqual(
        Array(5).fill(true),
      );
      expect(strays).toEqual([]);
      end();
      await locking;
      await expect(late.run((sql) => sql`select array['a', null]::text[] as list`)).resolves.toEqual([
        { list: ['a', null] },
      ]);
    });

    it('replaces a session that may only read, so that the next call may write', async () => {
      const login = await createLogin(database, 'carteiro_owner');
      const { username } = new URL(login.url);
      await database.sql.unsafe(`alter role ${username} set default_transaction_read_only = on`);
      const pool = openPool(login.url);
      const write = () => pool.transaction((tx) => tx`insert into partners (name) values ('one')`);
      await expect(write()).rejects.toThrow(DatabaseUnavailable);
      await database.sql.unsafe(`alter role ${username} reset default_transaction_read_only`);
      await write();
      await pool.close();
    });

    it('fails at once a commit that waits behind a statement being prepared', async () => {
      proxy.cutAt('the last words');
      const call = fresh.transaction(async (tx) => {
        await tx`select 1`;
        leaveToCommit(tx, tx`select ${'it'}::text as "the last words"`);
      });
      expect(await endsOf(call)).toEqual([LOST]);
    });

    it('fails at once a rollback that is not answered, and gives its connection to nobody', async () => {
      proxy.cutAt('rollback');
      const failing = fresh.transaction(async (tx) => {
        await tx`select 1`;
        throw new Error('changed my mind');
      });
      const waiting = Array.from({ length: 4 }, () => fresh.run((sql) => sql`select 1`));
      const [first, ...others] = await endsOf(failing, ...waiting);
      expect(first).toBe(LOST);
      expect(others).toEqual(['done', 'done', 'done', 'done']);
    });

    it('lets a transaction that goes on without its connection send nothing more', async () => {
      const { promise: mayGoOn, resolve: goOn } = Promise.withResolvers<void>();
      const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
      const { promise: said, resolve: say } = Promise.withResolvers<string>();
      const call = fresh.transaction(async (tx) => {
        await tx`select 1`;
        begin();
        await mayGoOn;
        try {
          await tx`insert into partners (name) values ('too late')`;
          say('done');
        } catch (error) {
          say(String(error));
        }
      });
      await begun;
      proxy.cut();
      expect(await endsOf(call)).toEqual([LOST]);
      goOn();
      expect(await said).toBe(LOST);
      expect(await database.sql`select from partners where name = 'too late'`).toEqual([]);
    });
  });

  it('stays closed: a call after the end fails, and no new connection is made', async () => {
    const pool = new Pool({ url: database.url, name: 'closed for good', max: 1, deadlineMs: 5_000 });
    await pool.run((sql) => sql`select 1`);
    await pool.close();
    for (let call = 0; call < 2; call += 1) {
      await expect(pool.run((sql) => sql`select 1`)).rejects.toThrow(DatabaseUnavailable);
    }
    const left = await database.sql`select from pg_stat_activity where application_name = 'closed for good'`;
    expect(left).toHaveLength(0);
  });
});

describe('a transaction', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
  });

  it('fails as the statement fails that was left to its commit', async () => {
    const failed = database.pool.transaction((tx) => {
      leaveToCommit(
        tx,
        tx`select 1 / 0`.then(() => undefined),
      );
      return Promise.resolve();
    });
    await expect(failed).rejects.toMatchObject({ code: '22012' });
  });
});
