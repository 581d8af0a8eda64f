import { randomUUID } from 'node:crypto';
import { beforeEach, expect, test } from 'vitest';
import { definitiveNumber, provisionalNumber } from '../../src/core/loans/loan-number.ts';
import { dayOf } from '../../src/contract/calendar.ts';
import { readWriteFault } from '../../src/db/write-faults.ts';
import { createTestDatabase, type TestDatabase, openPool } from '../support/database.ts';
import { createLogin } from '../support/logins.ts';
import { insertPartner } from '../support/outbox.ts';

let database: TestDatabase;
beforeEach(async () => void (database = await createTestDatabase()));

/** A partner without loans. */
const NOBODY = randomUUID();
const numberAt = (at: string) => database.pool.transaction((tx) => definitiveNumber(tx, NOBODY, new Date(at)));

test('each year is counted by itself, and so are the provisional ones', async () => {
  const numbers = ['2026-03-01T12:00Z', '2026-12-31T23:00Z', '2027-01-01T02:59Z', '2027-01-01T03:00Z'].map(numberAt);
  expect((await Promise.all(numbers)).toSorted()).toEqual([
    '2026-00000001',
    '2026-00000002',
    '2026-00000003',
    '2027-00000001',
  ]);
  expect(await database.pool.transaction((tx) => provisionalNumber(tx, NOBODY))).toBe('P-00000001');
});

test('thirty at once that begin a year get thirty numbers', async () => {
  const numbers = await Promise.all(Array.from({ length: 30 }, () => numberAt('2030-06-01T12:00Z')));
  expect(new Set(numbers).size).toBe(30);
});

test('no request creates a counter, this year or the next, also where nobody may create anything', async () => {
  // As each night does: the template may have been migrated in the year before.
  await database.sql`select make_loan_numbers()`;
  await database.sql.unsafe(`
    create function public.frozen() returns event_trigger language plpgsql as $$ begin raise 'frozen: %', tg_tag; end $$;
    create event trigger frozen on ddl_command_start execute function public.frozen()`);
  const now = new Date();
  const year = Number(dayOf(now).slice(0, 4));
  const [one, other, provisional] = [
    await numberAt(now.toISOString()),
    await numberAt(`${year + 1}-06-01T12:00Z`),
    await database.pool.transaction((tx) => provisionalNumber(tx, NOBODY)),
  ];
  expect([one, other, provisional]).toEqual([`${year}-00000001`, `${year + 1}-00000001`, 'P-00000001']);
  await database.sql`select raise_loan_numbers('2009', 500)`;
  await expect(numberAt(`${year + 2}-06-01T12:00Z`)).rejects.toThrow('frozen: CREATE SEQUENCE');
  expect(await readWriteFault(database.pool, true)).toBeNull();
});

test('a number is taken while a transaction that raised the series is open, above it, and of many at once none is given twice', async () => {
  await database.sql.begin(async (tx) => {
    await numberAt('2026-06-01T12:00Z');
    await tx`select raise_loan_numbers('2026', 500)`;
    await database.sql.begin(async (other) => {
      await other`set local lock_timeout = 1`;
      await other`select raise_loan_numbers('2026', 600)`;
      expect(await other`select next_loan_number('2026')::int as number`).toEqual([{ number: 601 }]);
    });
  });
  const raise = (to: number) => database.sql`select raise_loan_numbers('2026', ${to})`;
  const numbers = await Promise.all(
    Array.from({ length: 60 }, async (_, index) => {
      await raise(610 + index);
      return numberAt('2026-06-01T12:00Z');
    }),
  );
  expect(new Set(numbers).size).toBe(60);
  const held = await database.sql`select from pg_locks 
    where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())`;
  expect(held).toEqual([]);
});

test.each(["next_loan_number('2026')", "raise_loan_numbers('2026', 500)"])(
  'a cancellation that comes just behind the grant of the lock leaves %s without it',
  async (call) => {
    await numberAt('2026-06-01T12:00Z');
    const [holder, waiter] = [await database.sql.reserve(), await database.sql.reserve()];
    const [{ pid }] = await waiter<[{ pid: number }]>`select pg_backend_pid() as pid`;
    await holder`select pg_advisory_lock(advisory_lock('raising'))`;
    const waiting = waiter.unsafe(`select ${call}`).then(
      () => 'done',
      (error: Error) => error.message,
    );
    const waits = () => holder`select from pg_stat_activity where pid = ${pid} and wait_event_type = 'Lock'`;
    while ((await waits()).length === 0);
    process.kill(pid, 'SIGSTOP');
    try {
      await holder`select pg_advisory_unlock(advisory_lock('raising'))`;
      await holder`select pg_cancel_backend(${pid})`;
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    expect(await waiting).toContain('canceling');
    expect(await holder`select mode from pg_locks where locktype = 'advisory' and pid = ${pid}`).toEqual([]);
    holder.release();
    waiter.release();
  },
);

test('a year does not end at 99,999,999', async () => {
  await numberAt('2026-06-01T12:00Z');
  await database.sql`select setval('loan_numbers_2026', 99999999)`;
  expect(await numberAt('2026-06-01T12:00Z')).toBe('2026-100000000');
});

test('an installation counts from its start by its step, above what is there', async () => {
  await database.sql`update installation set loan_number_start = 3, loan_number_step = 4`;
  expect([await numberAt('2026-06-01T12:00Z'), await numberAt('2026-06-01T12:00Z')]).toEqual([
    '2026-00000003',
    '2026-00000007',
  ]);
  const partner = await insertPartner(database.sql);
  await database.sql`
    insert into loans (id, partner_id, version, state)
    values (uuidv7(), ${partner}, 1, '{"status": "emitindo", "number": "2031-00000011"}')`;
  expect(await numberAt('2031-06-01T12:00Z')).toBe('2031-00000015');
});

test('the API’s role may count, and nothing else about it', async () => {
  const login = await createLogin(database, 'carteiro_app');
  const pool = openPool(login.url);
  expect(await pool.transaction((tx) => definitiveNumber(tx, NOBODY, new Date('2026-06-01T12:00Z')))).toBe(
    '2026-00000001',
  );
  await expect(pool.run((sql) => sql`select setval('loan_numbers_2026', 9)`)).rejects.toThrow('permission denied');
});
