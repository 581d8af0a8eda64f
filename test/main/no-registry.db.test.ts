/** A production without a registry, as real processes: nothing is invented, and each door says so. */
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { createPartner, issueLoan } from '../core/loan-world.ts';
import { runCommand, startServing } from '../support/command.ts';
import { createTestDatabase } from '../support/database.ts';
import { AUDIENCE, createSigningKey, goodClaims, ISSUER, sign, startKeySet } from '../support/issuer.ts';
import { makeTestFolder } from '../support/test-folder.ts';

const SIMULATED = /\/src\/(registry\/simulated|http\/routes\/sandbox)/;
const NOTE = resolve(import.meta.dirname, '../support/note-imports.mjs');
const key = await createSigningKey('ES256');
const [database, keySet, folder] = await Promise.all([
  createTestDatabase(),
  startKeySet([key.publicJwk]),
  makeTestFolder(),
]);

const environment = (sandbox: boolean) => ({
  DATABASE_URL: database.url,
  SANDBOX: String(sandbox),
  SECRETS_KEY: Buffer.alloc(32, 7).toString('base64'),
  JWT_ISSUER: ISSUER,
  JWT_AUDIENCE: AUDIENCE,
  JWT_JWKS_URL: keySet.url,
  PORT: '0',
  NODE_OPTIONS: `--import=${NOTE}`,
});

/** Starts the API, asks it, stops it. Returns the answers and the modules that the process loaded. */
async function lifeOf(name: string, sandbox: boolean, asks: readonly (readonly [string, string, unknown?])[]) {
  const noted = join(folder.path, name);
  const api = await startServing('api', { ...environment(sandbox), NOTE_IMPORTS: noted });
  const partnerId = partner.partnerId;
  const claims = goodClaims({ parceiro_id: partnerId, scope: 'margem:read emprestimos:read emprestimos:write' });
  const headers = { Authorization: `Bearer ${await sign(key, claims)}`, 'Content-Type': 'application/json' };
  const answers = [];
  for (const [method, path, body] of asks) {
    const answer = await fetch(`${api.url}${path}`, {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const retryAfter = answer.headers.get('Retry-After');
    answers.push({ status: answer.status, retryAfter, body: (await answer.json()) as Record<string, unknown> });
  }
  const { code, stderr } = await api.end('SIGTERM');
  return { code, stderr, answers, loaded: (await readFile(noted, 'utf8')).split('\n') };
}

let partner: Awaited<ReturnType<typeof createPartner>>;

test('production without REGISTRY_URL loads nothing simulated, answers 503, and leaves no trace', async () => {
  partner = await createPartner(database.sql, { signing: 'externa', documents: 'diferida' });
  const { id } = await issueLoan(database.pool, partner);
  const asks = [
    ['POST', '/v1/margem/consulta', { cpf: '52998224725', numero_inscricao_empregador: '11222333000181' }],
    ['POST', `/v1/emprestimos/${id}/averbacao`],
    ['GET', `/v1/emprestimos/${id}`],
  ] as const;
  const { code, stderr, answers, loaded } = await lifeOf('production', false, asks);
  const [margin, registration, loan] = answers;
  for (const refused of [margin, registration]) {
    expect(refused).toMatchObject({
      status: 503,
      retryAfter: expect.stringMatching(/^\d+$/) as string,
      body: { codigo: 'INDISPONIVEL', mensagem: 'nenhum registry está configurado' },
    });
  }
  expect(loan).toMatchObject({ status: 200, body: { status: 'em_assinatura', averbacao: null } });
  expect(stderr).toContain('no registry is configured (REGISTRY_URL)');
  expect(code).toBe(0);
  expect(loaded.filter((url) => url.includes('/src/http/app.ts'))).toHaveLength(1);
  expect(loaded.filter((url) => SIMULATED.test(url))).toEqual([]);
  const events = await database.sql`select type from events where type like 'margem.%' or type like 'averbacao.%'`;
  expect(events).toEqual([]);
});

test('the sandbox of the same database loads them, so what is looked for is what there is', async () => {
  const { loaded, stderr } = await lifeOf('sandbox', true, []);
  expect(loaded.filter((url) => SIMULATED.test(url)).length).toBeGreaterThan(3);
  expect(stderr).not.toContain('no registry is configured');
});

test('sync-bonds asks nobody and says what to set; doctor warns', async () => {
  const noted = join(folder.path, 'sync');
  const sync = await runCommand(['sync-bonds'], { ...environment(false), NOTE_IMPORTS: noted });
  expect(sync).toMatchObject({ code: 2, stdout: '' });
  expect(sync.stderr).toContain('no registry is configured, so nothing was asked: set REGISTRY_URL');
  expect(SIMULATED.test(await readFile(noted, 'utf8'))).toBe(false);
  const doctor = await runCommand(['doctor'], { ...environment(false), NOTE_IMPORTS: noted });
  const said = /warning +registry +no registry is configured: (.*); set REGISTRY_URL/;
  expect(said.exec(doctor.stdout)?.[1]).toBe('margin queries and POST …/averbacao are 503, and sync-bonds asks nobody');
  const outside = await runCommand(['doctor'], { ...environment(false), NOTE_IMPORTS: noted, LOAN_CORE: 'outside' });
  expect(said.exec(outside.stdout)?.[1]).toBe('sync-bonds asks nobody');
});
