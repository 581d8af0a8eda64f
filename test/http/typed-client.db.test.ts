/**
 * A typed client made from the description drives the API. Its types are committed, so that the compiler checks the
 * partner's program in every `npm run check`, and so that a change of the interface is seen in review; the first test
 * tells when they are out of date.
 */
import path from 'node:path';
import ts from 'typescript5';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { registrationWorker } from '../../src/core/registration-worker.ts';
import { simulatedRegistry } from '../../src/registry/simulated.ts';
import { startApi, type TestApi } from '../support/api.ts';
import type { ApiDescription } from '../support/description.ts';
import { typesOf } from '../support/openapi-types.ts';
import { silentLog } from '../support/silent-log.ts';
import * as partner from './typed-partner.ts';

let api: TestApi;

beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.close());

test('the generated types are those of the description', async () => {
  const description = (await (await api.app.request('/openapi.json')).json()) as ApiDescription;
  await expect(typesOf(description)).toMatchFileSnapshot('generated/paths.ts');
});

test('the partner’s program compiles with the TypeScript that partners have', () => {
  const program = ts.createProgram([path.join(import.meta.dirname, 'typed-partner.ts')], {
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
}, 60_000);

test('the typed client registers a webhook and takes a loan to its disbursement', async () => {
  const scopes = ['webhooks:read', 'webhooks:write', 'emprestimos:read', 'emprestimos:write', 'sandbox'] as const;
  const token = await api.token(await api.partner(), scopes);
  const client = partner.connect({
    baseUrl: 'http://carteiro.test',
    token,
    fetch: async (request) => api.app.request(request),
  });
  const { pool } = api.database;
  const registry = simulatedRegistry(pool);
  const worker = registrationWorker({ pool, registry, log: silentLog, documentsDeadlineDays: 15 });

  const webhook = await partner.register(client, 'https://parceiro.example.com/carteiro');
  expect(webhook.secret).toMatch(/^whsec_/);
  expect(await partner.refusedRegistration(client, 'https://parceiro.example.com')).toEqual({
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
});
