import { beforeEach, describe, expect, test } from 'vitest';
import { readLoan } from '../../src/core/loans/read-loan.ts';
import { rebuildLoans } from '../../src/core/projection/rebuild.ts';
import type { Pool, Tx } from '../../src/db/pool.ts';
import type { LoanState } from '../../src/loan/state.ts';
import { createTestDatabase } from '../support/database.ts';
import { untilSettled } from '../support/settled.ts';
import { silentLog } from '../support/silent-log.ts';
import { disbursedLoan } from './disbursed-loans.ts';
import { createPartner, issueLoan } from './loan-world.ts';
import { concludeSigning } from '../../src/core/loans/steps.ts';

const database = await createTestDatabase();
const partner = await createPartner(database.sql);
const loans: LoanState[] = [];
for (let count = 0; count < 5; count += 1) loans.push(await disbursedLoan(database.pool, partner, '2026-01-31'));
await untilSettled(database.sql);
beforeEach(() => run(true));

const run = (repair: boolean, batch = 2) => rebuildLoans(database.pool, silentLog, { repair, batch });
const loan = (index: number): LoanState => loans[index] as LoanState;
const read = (id: string) => readLoan(database.pool, partner.partnerId, id);

/** What somebody did to the table by hand. */
const DAMAGES: readonly (readonly [string, (id: string) => Promise<unknown>])[] = [
  [
    'another state',
    (id) => database.sql`update loans set state = (state::jsonb || '{"signed": false}')::json where id = ${id}`,
  ],
  [
    'one key too many',
    (id) => database.sql`update loans set state = (state::jsonb || '{"extra": 1}')::json where id = ${id}`,
  ],
  ['a version behind', (id) => database.sql`update loans set version = version - 1 where id = ${id}`],
  ['a version ahead', (id) => database.sql`update loans set version = 999 where id = ${id}`],
  [
    'another partner',
    async (id) => {
      const stranger = await createPartner(database.sql);
      await database.sql`update loans set partner_id = ${stranger.partnerId} where id = ${id}`;
    },
  ],
];

test('a projection that was written by the commands is the fold of the log', async () => {
  expect(await run(false)).toEqual({ loans: loans.length, differences: [], repaired: 0 });
});

describe.each(DAMAGES)('a row with %s', (_name, damage) => {
  test('is reported by a check, which changes nothing, and then repaired', async () => {
    const { id } = loan(2);
    await damage(id);
    const [damaged] = await database.sql`select * from loans where id = ${id}`;
    expect(await run(false)).toEqual({ loans: loans.length, differences: [id], repaired: 0 });
    expect((await database.sql`select * from loans where id = ${id}`)[0]).toEqual(damaged);
    expect(await run(true)).toEqual({ loans: loans.length, differences: [id], repaired: 1 });
    expect(await read(id)).toEqual(loan(2));
    expect(await run(false)).toMatchObject({ differences: [] });
  });
});

test('a row that is missing is written again, wherever in its batch it belongs', async () => {
  const ids = loans.map(({ id }) => id).toSorted();
  await database.sql`delete from registrations`;
  await database.sql`delete from loans where id = any (${ids})`;
  expect(await run(true)).toEqual({ loans: ids.length, differences: ids, repaired: ids.length });
  expect(await read(ids[0] ?? '')).toMatchObject({ id: ids[0], status: 'desembolsada' });
});

test('a row without a stream is reported and left, because there is nothing to fold', async () => {
  const [{ id }] = await database.sql<[{ id: string }]>`
    insert into loans (id, partner_id, version, state)
    select uuidv7(), partner_id, version, (state::jsonb || '{"number": "N-1"}')::json from loans where id = ${loan(0).id}
    returning id`;
  expect(await run(true)).toEqual({ loans: loans.length + 1, differences: [id], repaired: 0 });
  await database.sql`delete from loans where id = ${id}`;
});

test('a stream that cannot be folded is reported, and the others are repaired all the same', async () => {
  const [first, second] = loans.map(({ id }) => id).toSorted() as [string, string];
  await database.sql`update loans set version = version - 1 where id = any (${[first, second]})`;
  const [contract] = await database.sql<[{ data: object }]>`
    select data from events where stream = ${first} and version = 1`;
  await database.sql`update events set data = '{}' where stream = ${first} and version = 1`;
  expect(await run(true)).toEqual({ loans: loans.length, differences: [first, second], repaired: 1 });
  await database.sql`
    update events set data = ${JSON.stringify(contract.data)}::text::json where stream = ${first} and version = 1`;
  expect(await run(true)).toMatchObject({ differences: [first], repaired: 1 });
});

test('what the API writes meanwhile wins, and is no difference', async () => {
  const fresh = await Promise.all(
    Array.from({ length: 20 }, (_, index) => issueLoan(database.pool, partner, `meanwhile-${index}`)),
  );
  await database.sql`update loans set state = (state::jsonb || '{"signed": true}')::json where version = 1`;
  const [rebuilt] = await Promise.all([
    run(true, 3),
    ...fresh.map(({ id }) => concludeSigning(database.pool, partner, id)),
  ]);
  expect(rebuilt.differences.length).toBe(rebuilt.repaired);
  for (const { id } of fresh) expect(await read(id)).toMatchObject({ version: 2, status: 'aguardando_averbacao' });
  expect(await run(false)).toMatchObject({ differences: [] });
});

test('a command that commits between the reading of the rows and of the log is no difference', async () => {
  const { pool } = database;
  const { id } = await issueLoan(pool, partner, 'between');
  const interrupted = {
    run: (work: Parameters<Pool['run']>[0]) => pool.run(work),
    transaction: (work: (tx: Tx) => Promise<unknown>) =>
      pool.transaction((tx) => {
        const tag = async (text: TemplateStringsArray, ...values: []) => {
          if (text.join('').includes('where stream = any')) await concludeSigning(pool, partner, id);
          return tx(text, ...values);
        };
        return work(tag as unknown as Tx);
      }),
  } as unknown as Pool;
  expect(await rebuildLoans(interrupted, silentLog, { repair: false })).toMatchObject({ differences: [] });
  expect(await read(id)).toMatchObject({ version: 2 });
});

test('a repair that meets a command in the middle of its transaction waits for it and keeps its version', async () => {
  const { id } = await issueLoan(database.pool, partner, 'in-the-middle');
  await database.sql`update loans set state = (state::jsonb || '{"signed": true}')::json where id = ${id}`;
  let rebuilding: ReturnType<typeof run> | undefined;
  await database.pool.transaction(async (tx) => {
    const data = JSON.stringify({ emprestimo_id: id, tipo_assinatura: 'internal' });
    await tx`
      select append_event(${id}, 1, 'assinatura.concluida', ${partner.partnerId}, ${data}::text::json, 'test')`;
    await tx`
      update loans set version = 2, state = (state::jsonb || '{"version": 2, "status": "aguardando_averbacao"}')::json where id = ${id}`;
    rebuilding = run(true);
    const waiting = () => database.sql`select 1 from pg_stat_activity where wait_event_type = 'Lock'`;
    await expect.poll(async () => (await waiting()).length).toBeGreaterThan(0);
  });
  expect(await rebuilding).toMatchObject({ differences: [id], repaired: 1 });
  expect(await read(id)).toMatchObject({ version: 2, status: 'aguardando_averbacao', signed: true });
  expect(await run(false)).toMatchObject({ differences: [] });
});
