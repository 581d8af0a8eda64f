/**
 * A typed client made from the description drives the API over a socket. Its types are made anew for this test and in every
 * `npm run check`, where the compiler holds the partner's program to them.
 */
import path from 'node:path';
import ts from 'typescript';
import { afterAll, expect, test } from 'vitest';
import './make-client-types.ts';
import { registrationWorker } from '../../src/core/loans/registration-worker.ts';
import { startServer } from '../../src/http/server.ts';
import { startApi } from '../support/api.ts';
import { silentLog } from '../support/silent-log.ts';
import { neverSent, refusedRegistration } from './typed-mistakes.ts';
import * as partner from './typed-partner.ts';

const api = await startApi();
const server = await startServer({ fetch: api.app.fetch, host: '127.0.0.1', port: 0 });
afterAll(() => server.close());

test('the partner’s program compiles with the TypeScript that partners have, and its mistakes do not', () => {
  const files = ['typed-partner.ts', 'typed-mistakes.ts'].map((file) => path.join(import.meta.dirname, file));
  const program = ts.createProgram(files, {
    target: ts.ScriptTarget.ES2023,
    module: ts.ModuleKind.NodeNext,
    strict: true,
    exactOptionalPropertyTypes: true,
    allowImportingTsExtensions: true,
    noEmit: true,
    skipLibCheck: true,
  });
  const faults = ts
    .getPreEmitDiagnostics(program)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '));
  expect(faults).toEqual([]);
});

test('the typed client registers a webhook and takes a loan to its disbursement', async () => {
  const scopes = ['webhooks:read', 'webhooks:write', 'emprestimos:read', 'emprestimos:write', 'sandbox'] as const;
  const token = await api.token(await api.partner(), scopes);
  const client = partner.connect({ baseUrl: server.url, token });
  const { pool } = api.database;
  const worker = registrationWorker({ ...api.registry, pool, log: silentLog, documentsDeadlineDays: 15 });

  const webhook = await partner.register(client, 'https://parceiro.example.com/carteiro');
  expect(webhook.secret).toMatch(/^whsec_/);
  expect(await refusedRegistration(client, 'https://parceiro.example.com')).toEqual({
    status: 400,
    code: 'ERRO_VALIDACAO',
    field: 'eventos[0]',
  });

  const { id, status } = await partner.issue(client, 'key-1');
  expect(status).toBe('em_assinatura');
  expect(await partner.sign(client, id)).toMatchObject({ status: 'aguardando_averbacao' });
  expect(await partner.requestRegistration(client, id)).toBe('processando');
  await worker.tick();
  expect(await partner.settle(client, id)).toMatchObject({ status: 'desembolsada', proxima_acao: null });
  expect(await partner.read(client, id)).toMatchObject({ status: 'desembolsada', averbacao: { status: 'concluida' } });
  expect(await partner.read(client, id, 1)).toMatchObject({ status: 'em_assinatura', versao: 1 });
  const bodies = await api.database.sql<{ body: Buffer }[]>`
    select body from messages join events on id = event_id order by position`;
  const reported = bodies.map(({ body }) => partner.received(body.toString('utf8')));
  expect(reported).toEqual(['assinatura.concluida', 'averbacao.concluida', `${id}: R$ 1234.50`]);
  expect(bodies.map(({ body }) => neverSent(body.toString('utf8')))).toEqual([false, false, false]);
});
