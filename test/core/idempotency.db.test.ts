import { expect, test } from 'vitest';
import { NOT_FOUND } from '../../src/contract/refusals.ts';
import { createLoan } from '../../src/core/loans/create-loan.ts';
import { hashRequest, once } from '../../src/core/idempotency.ts';
import { createTestDatabase } from '../support/database.ts';
import { accepted, createPartner, REQUEST } from './loan-world.ts';
import { concludeSigning } from '../../src/core/loans/steps.ts';

const database = await createTestDatabase();
const { pool, sql } = database;
const partner = await createPartner(database.sql);

const request = (key: string, body: unknown = { a: 1 }) => ({
  partnerId: partner.partnerId,
  operation: 'test',
  key,
  body,
});
const made = (body: unknown) => () => Promise.resolve({ ok: { status: 201, body } });

test('equal requests have equal hashes whatever the order of their keys, and others differ', () => {
  expect(hashRequest({ a: [1, { b: 2, c: 3 }], d: undefined })).toEqual(hashRequest({ a: [1, { c: 3, b: 2 }] }));
  expect(hashRequest([1, 2])).not.toEqual(hashRequest([2, 1]));
  expect(hashRequest(undefined)).toHaveLength(32);
});

test('a replay answers what the first request was answered, though the loan has moved on', async () => {
  const first = await createLoan(pool, partner, 'replayed', REQUEST);
  expect(first).toMatchObject({
    ok: { replayed: false, answer: { status: 201, body: { status: 'em_assinatura' } } },
  });
  if ('refused' in first) throw new Error('refused');
  const { answer } = first.ok;
  await accepted(concludeSigning(pool, partner, answer.body.id));
  const { valor_parcela, ...rest } = REQUEST;
  expect(await createLoan(pool, partner, 'replayed', { valor_parcela, ...rest })).toEqual({
    ok: { answer, replayed: true },
  });
  expect(await sql`select from loans where id = ${answer.body.id}`).toHaveLength(1);
});

test('the keys of the stored body keep their order', async () => {
  await once(database.pool, request('order'), made({ b: 1, a: { d: 1, c: 2 } }));
  const again = await once(database.pool, request('order'), made('never made'));
  expect(JSON.stringify(again)).toContain('{"b":1,"a":{"d":1,"c":2}}');
});

test('the same key with another body is divergent, and free for another partner or operation', async () => {
  const stranger = await createPartner(sql);
  await once(pool, request('taken'), made(1));
  expect(await once(pool, request('taken', { a: 2 }), made(2))).toEqual({ refused: { kind: 'keyDiverges' } });
  const others = [
    { ...request('taken', { a: 2 }), operation: 'other' },
    { ...request('taken', { a: 2 }), partnerId: stranger.partnerId },
  ];
  for (const other of others) expect(await once(pool, other, made(2))).toMatchObject({ ok: { replayed: false } });
});

test('of 100 requests with one key at once, one acts and the rest get its answer', async () => {
  const all = await Promise.all(Array.from({ length: 100 }, () => createLoan(pool, partner, 'hundred', REQUEST)));
  const answers = all.flatMap((each) => ('ok' in each ? [each.ok] : []));
  expect(answers).toHaveLength(100);
  expect(answers.filter(({ replayed }) => !replayed)).toHaveLength(1);
  expect(new Set(answers.map(({ answer }) => answer.body.id)).size).toBe(1);
  const [row] =
    await sql`select count(*)::int as loans from events where data ->> 'emprestimo_id' = ${answers[0]?.answer.body.id ?? ''}`;
  expect(row).toEqual({ loans: 1 });
});

test('a key whose request failed or was refused is free again', async () => {
  const failing = once(pool, request('failed'), () => Promise.reject(new Error('disk full')));
  await expect(failing).rejects.toThrow('disk full');
  expect(await once(pool, request('failed'), () => Promise.resolve(NOT_FOUND))).toEqual(NOT_FOUND);
  expect(await once(pool, request('failed', 'other'), made(1))).toMatchObject({ ok: { replayed: false } });
});

test('a key that is still being processed after the wait is in progress, and its answer is there later', async () => {
  const started = Promise.withResolvers<void>();
  const finish = Promise.withResolvers<void>();
  const slow = once(pool, request('slow'), async () => {
    started.resolve();
    await finish.promise;
    return { ok: { status: 201, body: 'slow' } };
  });
  await started.promise;
  expect(await once(pool, { ...request('slow'), waitMs: 50 }, made('impatient'))).toEqual({
    refused: { kind: 'keyInProgress' },
  });
  const patient = once(pool, request('slow'), made('patient'));
  finish.resolve();
  expect(await slow).toMatchObject({ ok: { replayed: false } });
  expect(await patient).toEqual({
    ok: { answer: { status: 201, body: 'slow' }, replayed: true },
  });
});

test('the wait for a key does not shorten the waits of what is made under it', async () => {
  const seen = await once(database.pool, request('lock timeout'), async (tx) => {
    const [row] = await tx<[{ lock_timeout: string }]>`show lock_timeout`;
    return { ok: { status: 200, body: row.lock_timeout } };
  });
  expect(seen).toMatchObject({ ok: { answer: { body: '0' } } });
});
