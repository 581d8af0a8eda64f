/** Cursors that somebody else made are 400 at every list, and those that the service made go on. */
import { createHash } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ErrorBody } from '../../src/contract/errors.ts';
import { createCursors } from '../../src/http/cursor.ts';
import { startApi } from '../support/api.ts';
import { EVERYTHING } from '../support/searches.ts';

const api = await startApi();
const partnerId = await api.partner();
const token = await api.token(partnerId, ['webhooks:read', 'webhooks:write', 'vinculos:read']);
const body = { url: 'https://parceiro.example.com/hooks', eventos: ['averbacao.concluida'] };
const webhookId = (await api.send<{ id: string }>('POST', '/v1/webhooks', { token, body })).body.id;

const ID = '019a6e0b-7f3c-7d52-9a41-5c1d2e3f4a5b';
const NINES = '9'.repeat(19);
const BEYOND = String(2n ** 63n);

/** A cursor with the digest that anybody can compute. */
function withPublicDigest(list: string, fields: readonly string[]): string {
  const text = [list, ...fields].join(' ');
  const digest = createHash('sha256').update(text).digest('base64url').slice(0, 16);
  return Buffer.from([...fields, digest].join(' ')).toString('base64url');
}

interface List {
  readonly name: () => string;
  readonly ask: (cursor: string) => Promise<{ readonly status: number; readonly body: ErrorBody }>;
  readonly field: string;
}

const get = (path: string, as?: string) => api.send('GET', path, { token: as ?? token });

const LISTS: Readonly<Record<string, List>> = {
  eventos: {
    name: () => `eventos ${partnerId}`,
    ask: (cursor) => get(`/v1/eventos?depois=${encodeURIComponent(cursor)}`),
    field: 'depois',
  },
  desligamentos: {
    name: () => `/v1/vinculos/desligamentos ${partnerId}`,
    ask: (cursor) => get(`/v1/vinculos/desligamentos?cursor=${encodeURIComponent(cursor)}`),
    field: 'cursor',
  },
  novos: {
    name: () => `/v1/vinculos/novos ${partnerId}`,
    ask: (cursor) => get(`/v1/vinculos/novos?cursor=${encodeURIComponent(cursor)}`),
    field: 'cursor',
  },
  entregas: {
    name: () => `entregas ${webhookId} [null,null,null,null,null]`,
    ask: (cursor) => get(`/v1/webhooks/${webhookId}/entregas?cursor=${encodeURIComponent(cursor)}`),
    field: 'cursor',
  },
  reenvios: {
    name: () => `reenvios ${webhookId}`,
    ask: (cursor) =>
      api.send('POST', `/v1/webhooks/${webhookId}/reenvios`, { token, body: { desde: '2026-01-01', cursor } }),
    field: 'cursor',
  },
  tentativas: {
    name: () => `/v1/auditoria/tentativas ${JSON.stringify(EVERYTHING)}`,
    ask: async (cursor) =>
      get(
        `/v1/auditoria/tentativas?cursor=${encodeURIComponent(cursor)}`,
        await api.token(undefined, ['auditoria:read']),
      ),
    field: 'cursor',
  },
};

const AT = '2026-01-31T12:00:00.000Z';

describe('a cursor that the service did not make', () => {
  test.each([
    ['eventos', ['1', '1', '1']],
    ['eventos', ['1', NINES, '1']],
    ['eventos', ['1', '1', NINES]],
    ['eventos', ['1', '1', BEYOND]],
    ['eventos', ['1', '0', '-1']],
    ['eventos', [NINES, '1', '1']],
    ['desligamentos', ['0000-01-01T00:00:00.000Z', ID]],
    ['novos', ['0000-01-01T00:00:00.000Z', ID]],
    ['novos', ['9999-12-31T23:59:59.999Z', ID]],
    ['entregas', [AT, ID]],
    ['reenvios', ['0000-01-01T00:00:00.000Z', ID]],
    ['reenvios', ['9999-12-31T23:59:59.999Z', ID]],
    ['reenvios', [AT, ID]],
    ['tentativas', ['0000-01-01T00:00:00.000Z', ID, '1', 'false']],
    ['tentativas', [AT, ID, '999999999', 'true']],
  ])('of %s with the fields %j is 400', async (name, fields) => {
    const { name: list, ask, field } = LISTS[name] as List;
    const answer = await ask(withPublicDigest(list(), fields));
    expect([answer.status, answer.body.detalhes?.[0]?.campo]).toEqual([400, field]);
  });

  test.each(Object.keys(LISTS))('of %s is 400, whatever it holds', async (name) => {
    const { name: list, ask } = LISTS[name] as List;
    const moments = fc.oneof(
      fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
      fc.constant(AT),
    );
    const numbers = fc.oneof(fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }).map(String), fc.constant(NINES));
    const field = fc.oneof(numbers, moments, fc.uuid(), fc.constantFrom('true', ''), fc.string());
    const forged = fc.array(field, { maxLength: 5 }).map((fields) => withPublicDigest(list(), fields));
    const cursors = fc.oneof(forged, fc.string(), fc.string({ unit: 'binary' }), fc.base64String());
    const check = fc.asyncProperty(cursors, async (cursor) => {
      expect([cursor, (await ask(cursor.toWellFormed())).status]).toEqual([cursor, 400]);
    });
    await fc.assert(check, { numRuns: 40 });
  });
});

test('a cursor is read by every API process on the database, and by no other installation', async () => {
  const other = await startApi();
  const cursor = await createCursors(api.database.pool).write(`eventos ${partnerId}`, ['0', '0', '0']);
  expect((await get(`/v1/eventos?depois=${cursor}`)).status).toBe(200);
  await other.database.sql`update cursor_keys set key = sha256('another')`;
  await other.database.sql`insert into partners (id, name) values (${partnerId}, 'Parceiro')`;
  const theirs = await other.token(partnerId, ['webhooks:read']);
  expect((await other.send('GET', `/v1/eventos?depois=${cursor}`, { token: theirs })).status).toBe(400);
});
