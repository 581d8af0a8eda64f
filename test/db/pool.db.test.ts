import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DatabaseUnavailable, leaveToCommit, Pool, type Tx } from '../../src/db/pool.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

/** A TCP relay whose open connections can be made to swallow everything, without an end or a reset. */
class Relay {
  readonly #server: Server;
  readonly #pairs = new Set<readonly [Socket, Socket]>();
  readonly #silent: (readonly [Socket, Socket])[] = [];

  constructor(target: URL) {
    this.#server = createServer((client) => {
      const upstream = connect(Number(target.port || 5432), target.hostname);
      for (const socket of [client, upstream]) socket.on('error', () => undefined);
      client.pipe(upstream);
      upstream.pipe(client);
      this.#pairs.add([client, upstream]);
    });
  }

  async listen(): Promise<number> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return (this.#server.address() as AddressInfo).port;
  }

  /** What is open now goes silent in both directions; new connections work. Returns how many went silent. */
  blackHole(): number {
    for (const [client, upstream] of this.#pairs) {
      client.unpipe(upstream);
      upstream.unpipe(client);
      client.resume();
      upstream.resume();
    }
    const silenced = this.#pairs.size;
    this.#silent.push(...this.#pairs);
    this.#pairs.clear();
    return silenced;
  }

  async close(): Promise<void> {
    for (const pair of [...this.#pairs, ...this.#silent]) for (const socket of pair) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }
}

describe('the pool', () => {
  const deadlineMs = 2_000;
  let database: TestDatabase;
  let relay: Relay;
  let pool: Pool;

  beforeAll(async () => {
    database = await createTestDatabase();
    const url = new URL(database.url);
    relay = new Relay(new URL(database.url));
    url.host = `127.0.0.1:${await relay.listen()}`;
    pool = new Pool({ url: url.href, name: 'carteiro pool test', max: 2, deadlineMs });
  });

  afterAll(async () => {
    await pool.close(0);
    await relay.close();
    await database.drop();
  });

  const selectOne = (): Promise<unknown> => pool.run((sql) => sql`select 1 as one`);

  it('notices a black-holed connection by its deadline, and the next call works', async () => {
    expect(await selectOne()).toEqual([{ one: 1 }]);
    expect(relay.blackHole()).toBeGreaterThan(0);
    const startedAt = performance.now();
    await expect(selectOne()).rejects.toThrow(DatabaseUnavailable);
    const tookMs = performance.now() - startedAt;
    expect(tookMs).toBeGreaterThan(deadlineMs - 50);
    expect(tookMs).toBeLessThan(deadlineMs + 1_000);
    expect(await selectOne()).toEqual([{ one: 1 }]);
  });

  it('fails every call that waits on a black-holed connection, and a transaction too', async () => {
    await Promise.all([selectOne(), selectOne()]);
    relay.blackHole();
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

  it('rolls a transaction back when its work throws', async () => {
    const failing = pool.transaction(async (tx) => {
      await tx`create table never_made (one int)`;
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect(await database.sql`select to_regclass('never_made') as made`).toEqual([{ made: null }]);
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
  afterAll(() => database.drop());

  const insert = (sql: Tx, name: string) => sql`insert into partners (name) values (${name})`;
  const names = async () => (await database.sql`select name from partners order by name`).map((row) => row.name);

  it('leaves standing what was sent ahead of it when it is rolled back', async () => {
    const failed = database.pool.transaction(
      async (tx) => {
        await insert(tx, 'inside');
        throw new Error('changed my mind');
      },
      (sql) => [insert(sql, 'ahead'), insert(sql, 'next')],
    );
    await expect(failed).rejects.toThrow('changed my mind');
    expect(await names()).toEqual(['ahead', 'next']);
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
