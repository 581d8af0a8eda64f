/** A feed that is not Carteiro's, or a stranger in its place: `listen` refuses it in one sentence, and forwards none of it. */
import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import { createFeedApi } from '../../src/listen/feed-api.ts';
import { listening } from '../support/listening.ts';

const ID = '019a6e0b-7f3c-7d52-9a41-5c1d2e3f4a5b';
const item = (evento: unknown, rest = {}) => ({
  evento_id: ID,
  versao_emprestimo: 1,
  entregas: [{ id: ID, webhook_id: ID }],
  envelope: { evento },
  ...rest,
});
const page = (itens: readonly unknown[], proximo_cursor: unknown = 'Nz-Q_w') =>
  JSON.stringify({ itens, proximo_cursor, ha_mais: false });

let body = '';
let head: readonly [status: number, headers?: Record<string, string>] = [200];
const server = createServer((_request, response) => response.writeHead(...head).end(body));
const port = await listening(server);

async function read() {
  const api = createFeedApi(`http://127.0.0.1:${port}`, 'token');
  return api.readFeed({ after: null, since: new Date(0), limit: 1 }, new AbortController().signal);
}

test('a page of the feed is read', async () => {
  body = page([item('averbacao.concluida')]);
  const itens = [{ envelope: { evento: 'averbacao.concluida' } }];
  expect(await read()).toMatchObject({ ok: { itens, proximo_cursor: 'Nz-Q_w' } });
});

test.each([
  ['an event that would be two headers', page([item('a\r\nX-Evil: 1')])],
  ['an event that is no name', page([item({ toString: 1 })])],
  ['an event that steers a terminal', page([item('\u001b[2J')])],
  ['an id that would be two headers', page([item('a.b', { evento_id: 'x\r\ny' })])],
  ['a delivery with such an id', page([item('a.b', { entregas: [{ id: '\u001b]0;x', webhook_id: ID }] })])],
  ['a cursor that steers a terminal', page([], '\u001b[2J')],
  [
    'an envelope too deep to be written',
    page([item('a.b')]).replace('"a.b"', `"a.b","data":${'['.repeat(20_000)}${']'.repeat(20_000)}`),
  ],
])('%s is refused in a sentence', async (_what, sent) => {
  body = sent;
  expect(await read()).toEqual({ refused: expect.stringContaining("is not Carteiro's API") });
});

test.each([
  ['0', 1],
  ['9000000', 300],
  ['-7', 5],
  ['Thu, 26 Nov 2026 12:00:00 GMT', 5],
  ['12', 12],
])('an API that is away and says "Retry-After: %s" is asked again after %i s', async (retryAfter, waitS) => {
  head = [429, { 'Retry-After': retryAfter }];
  expect(await read()).toMatchObject({ away: expect.any(String), waitS });
  head = [200];
});
