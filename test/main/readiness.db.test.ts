import { beforeEach, expect, test } from 'vitest';
import type { Pool } from '../../src/db/pool.ts';
import { noteRefusedWrite, noteRoom } from '../../src/db/refused-writes.ts';
import { readiness } from '../../src/main/service/readiness.ts';
import { createTestDatabase, type TestDatabase, openPool } from '../support/database.ts';

let database: TestDatabase;
let pool: Pool;

beforeEach(async () => {
  database = await createTestDatabase();
  pool = openPool(database.url, { name: 'ready', max: 4 });
});

async function setReadOnly(isReadOnly: boolean): Promise<void> {
  const name = new URL(database.url).pathname.slice(1);
  const value = isReadOnly ? 'on' : 'off';
  await database.sql.unsafe(`alter database "${name}" set default_transaction_read_only = ${value}`);
}

test('a migrated database that takes writes is ready', async () => {
  expect(await readiness(pool)()).toBeNull();
});

test('one that only takes reads is not, and the reason says so', async () => {
  await setReadOnly(true);
  try {
    expect(await readiness(pool)()).toBe(
      'o banco de dados só aceita leituras: default_transaction_read_only está ligado',
    );
  } finally {
    await setReadOnly(false).catch(() => undefined);
  }
});

test('one with migrations to come is not, and the reason counts them', async () => {
  await database.sql`delete from applied_migrations where name = '0000_baseline.sql'`;
  expect(await readiness(pool)()).toBe('falta 1 migração: rode o comando migrate');
});

test('a server that refuses the login is not told as silent, nor is one that went down without room on its disk', async () => {
  const failing = (code: string) =>
    readiness({
      schema: 'carteiro',
      run: () => Promise.reject(Object.assign(new Error('refused'), { code })),
    } as unknown as Pool)();
  expect(await failing('28P01')).toBe('o banco de dados recusa o usuário ou a senha de DATABASE_URL');
  await expect(failing('ECONNREFUSED')).rejects.toThrow('refused');
  noteRefusedWrite({ code: '53100' });
  expect(await failing('ECONNREFUSED')).toBe(
    'o banco de dados não responde, e antes não aceitou escritas: o disco está cheio',
  );
  noteRoom();
});

test('those who ask at the same time share one look', async () => {
  let questions = 0;
  const counting = { schema: pool.schema, run: (work: never) => ((questions += 1), pool.run(work)) };
  const ready = readiness(counting as unknown as Pool);
  await ready();
  const ofOneCheck = questions;
  expect(await Promise.all(Array.from({ length: 50 }, () => ready()))).toEqual(Array.from({ length: 50 }, () => null));
  expect(questions).toBe(2 * ofOneCheck);
});
