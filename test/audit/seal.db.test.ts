import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { NO_HASH, readHead, type Seal, writeHead } from '../../src/audit/seals/chain.ts';
import { readLastSeal, sealTurn, startCursor } from '../../src/audit/seals/seal.ts';
import { sealAll } from '../../src/audit/seals/sealer.ts';
import { verifySeals } from '../../src/audit/seals/verify.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { commitEvent, commitEvents, insertPartner, insertWebhook } from '../support/outbox.ts';
import { untilSettled } from '../support/settled.ts';

let database: TestDatabase;
let partnerId: string;

beforeEach(async () => {
  database = await createTestDatabase();
  partnerId = await insertPartner(database.sql);
  await insertWebhook(database.sql, partnerId, 'https://partner.example/');
});
afterEach(() => database.drop());

const verify = (anchor: string | null = null) =>
  verifySeals(database.pool, { anchor: anchor === null ? null : readHead(anchor) });

async function insertAttempts(count: number): Promise<void> {
  await database.sql`
    insert into attempts (delivery_id, number, webhook_id, partner_id, outcome, status_code, started_at, duration_ms, url, claim)
    select uuidv7(), 1, uuidv7(), ${partnerId}, 'entregue', 200, now(), 1, 'https://partner.example/', 'test'
    from generate_series(1, ${count}::int)`;
}

/** Seals what is there now, in one batch. */
async function sealOnce(): Promise<void> {
  await untilSettled(database.sql);
  const cursor = { ...startCursor(), txs: 1_000_000 };
  while ((await database.pool.transaction((tx) => sealTurn(tx, cursor))).more);
}

async function readSeals() {
  return database.sql<{ number: number; first: number; end: number; rows: number; previous: Buffer; hash: Buffer }[]>`
    select number::int, first_tx::int as first, end_tx::int as end, rows, previous, hash from seals order by number`;
}

async function lastHead(): Promise<string> {
  return writeHead((await database.pool.run(readLastSeal)) as Seal);
}

describe('the sealer', () => {
  test('seals every settled row once, in spans that follow each other, and has nothing left to do', async () => {
    for (let count = 0; count < 3; count += 1) {
      await commitEvents(database.sql, partnerId, 6);
      await insertAttempts(6 + count);
      await sealOnce();
    }
    const seals = await readSeals();
    expect(seals.map(({ rows }) => rows)).toEqual([12, 13, 14]);
    expect(seals[0]).toMatchObject({ number: 1, first: 0, previous: NO_HASH });
    for (const [index, seal] of seals.slice(1).entries()) {
      expect([seal.first, seal.previous]).toEqual([seals[index]?.end, seals[index]?.hash]);
    }
    expect(await sealAll(database.pool)).toEqual({ seals: 0, rows: 0 });
    expect(await verify()).toMatchObject({ seals: 3, rows: 39, broken: null });
  });

  test('leaves alone what an open transaction could still bring below, and seals it after its commit', async () => {
    const late = await database.sql.reserve();
    await late`begin`;
    await late`insert into attempts (delivery_id, number, webhook_id, partner_id, outcome, started_at, url, claim)
      values (uuidv7(), 1, uuidv7(), ${partnerId}, 'desconhecido', now(), 'https://late.example/', 'late')`;
    await commitEvents(database.sql, partnerId, 3);
    expect(await sealAll(database.pool)).toMatchObject({ rows: 0 });
    await late`commit`;
    late.release();
    await untilSettled(database.sql);
    expect(await sealAll(database.pool)).toMatchObject({ rows: 4 });
    expect(await verify()).toMatchObject({ rows: 4, broken: null });
  });

  test('eight sealers at once make one chain', async () => {
    const sealers = Array.from({ length: 8 }, async () => {
      for (let turn = 0; turn < 10; turn += 1) {
        await commitEvent(database.pool, partnerId);
        await database.pool.transaction((tx) => sealTurn(tx, startCursor()));
      }
    });
    await Promise.all(sealers);
    await untilSettled(database.sql);
    await sealAll(database.pool);
    expect(await verify()).toMatchObject({ rows: 80, broken: null });
  });

  test('rests while the last seal is young, whoever made it', async () => {
    await commitEvents(database.sql, partnerId, 1);
    await sealOnce();
    await commitEvents(database.sql, partnerId, 1);
    await untilSettled(database.sql);
    const turn = (restMs: number) =>
      database.pool.transaction((tx) => sealTurn(tx, { ...startCursor(), txs: 1_000_000 }, { restMs }));
    expect(await turn(60_000)).toEqual({ rows: 0, more: false });
    expect((await turn(0)).rows).toBe(1);
  });

  test('takes a backlog in turns, and fewer transactions a turn where they hold many rows', async () => {
    const cursor = { ...startCursor(), txs: 4 };
    for (let count = 0; count < 12; count += 1) await insertAttempts(40);
    await untilSettled(database.sql);
    const rows = [];
    for (let more = true; more;) {
      const turn = await database.pool.transaction((tx) => sealTurn(tx, cursor));
      ({ more } = turn);
      if (turn.rows > 0) rows.push(turn.rows);
    }
    expect(rows.reduce((sum, count) => sum + count, 0)).toBe(480);
    expect(await verify()).toMatchObject({ seals: rows.length, rows: 480, broken: null });
  });

  test('refuses to go on when transactions count from anew below what is sealed', async () => {
    await commitEvents(database.sql, partnerId, 1);
    await untilSettled(database.sql);
    await sealAll(database.pool);
    await database.sql`update seals set end_tx = end_tx + 1000000`;
    await expect(sealAll(database.pool)).rejects.toThrow('went back in time');
  });
});

describe('audit verify', () => {
  const batches = 4;

  beforeEach(async () => {
    for (let count = 0; count < batches; count += 1) {
      await commitEvents(database.sql, partnerId, 5);
      await insertAttempts(5);
      await sealOnce();
    }
  });

  /** Rows of the second batch, whose transactions its seal spans. */
  const inSecond = () => database.sql`tx in (
    select a.tx from attempts a, seals s where s.number = 2 and xid8send(a.tx)::bigint >= s.first_tx and xid8send(a.tx)::bigint < s.end_tx
    union all
    select e.tx from events e, seals s where s.number = 2 and xid8send(e.tx)::bigint >= s.first_tx and xid8send(e.tx)::bigint < s.end_tx)`;

  test.each([
    ['a changed attempt', 'changed', () => database.sql`update attempts set status_code = 204 where ${inSecond()}`],
    [
      'a changed event',
      'changed',
      () => database.sql`update events set data = '{"motivo": "outro"}' where ${inSecond()}`,
    ],
    [
      'one changed byte of what was sent',
      'changed',
      () => database.sql`update events set data = (data::text || ' ')::json where ${inSecond()}`,
    ],
    ['a lowered fan-out', 'changed', () => database.sql`update events set fan_out = 0 where ${inSecond()}`],
    [
      'a removed attempt',
      '1 of its 10 rows',
      () => database.sql`
      delete from attempts where delivery_id = (select min(delivery_id::text)::uuid from attempts where ${inSecond()})`,
    ],
    [
      'a removed batch',
      '10 of its 10 rows',
      () => database.sql`
      with gone as (delete from attempts where ${inSecond()}) delete from events where ${inSecond()}`,
    ],
    [
      'an added attempt',
      '1 rows were added',
      () => database.sql`
      insert into attempts (delivery_id, number, webhook_id, partner_id, outcome, started_at, url, claim, tx)
      select uuidv7(), 1, webhook_id, partner_id, 'desconhecido', now(), url, claim, tx from attempts where ${inSecond()} limit 1`,
    ],
    [
      'a seal hashed again after a change',
      'its own fields',
      () => database.sql`
      update seals set rows = 9 where number = 2`,
    ],
    ['a seal taken out', 'seal 2 is missing', () => database.sql`delete from seals where number = 2`],
  ])('names the second batch: %s', async (_, reason, tamper) => {
    expect((await verify()).broken).toBeNull();
    await tamper();
    expect((await verify()).broken).toEqual({ number: 2, reason: expect.stringContaining(reason) as string });
  });

  test('a cut tail is whole by itself, and shows against a head that was kept outside', async () => {
    const anchor = await lastHead();
    await database.sql`delete from attempts where xid8send(tx)::bigint >= (select first_tx from seals where number = ${batches})`;
    await database.sql`delete from events where xid8send(tx)::bigint >= (select first_tx from seals where number = ${batches})`;
    await database.sql`delete from seals where number = ${batches}`;
    expect((await verify()).broken).toBeNull();
    expect((await verify(anchor)).broken).toEqual({
      number: batches,
      reason: expect.stringContaining('cut') as string,
    });
  });

  test('a chain made anew shows against the head', async () => {
    const anchor = await lastHead();
    await database.sql`update attempts set status_code = 204`;
    await database.sql`truncate seals`;
    await sealOnce();
    expect((await verify()).broken).toBeNull();
    expect((await verify(anchor)).broken?.reason).toContain('anchored');
  });
});
