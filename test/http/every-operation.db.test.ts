/**
 * The refusals that every operation shares, received from every operation that the description tells: none is left open,
 * and what the description says of one holds for all (each answer is held to it on its way here).
 */
import { expect, test } from 'vitest';
import { SCOPES, SCOPES_WITHOUT_PARTNER, type Scope } from '../../src/contract/statuses.ts';
import { startApi, type Sending, type TestApi } from '../support/api.ts';
import type { ApiDescription } from '../support/description.ts';

interface Target {
  readonly method: string;
  readonly path: string;
  readonly scope: Scope;
}

const api = await startApi();
const limited = await startApi({ rateLimitPerMinute: 1 });
const { paths } = (await (await api.app.request('/openapi.json?para=tudo')).json()) as ApiDescription;
const operations = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, { security }]) => {
    const [{ bearer: [scope] = [] } = {}] = security as { readonly bearer?: Scope[] }[];
    const real = path
      .replace('{id}', crypto.randomUUID())
      .replace('{hid}', crypto.randomUUID())
      .replace('{tipo}', 'ccb_assinada');
    return { method: method.toUpperCase(), path: real, scope: scope as Scope };
  }),
);

/** What every operation answers, where it is not `expected`. */
async function others(
  of: TestApi,
  expected: string,
  sendingFor: (target: Target) => Promise<Sending>,
  on = operations,
) {
  const answers = await Promise.all(
    on.map(async (target) => {
      const { status, body } = await of.send(target.method, target.path, await sendingFor(target));
      return { asked: `${target.method} ${target.path}`, got: `${status} ${body?.codigo}` };
    }),
  );
  return answers.filter(({ got }) => got !== expected);
}

/** A token that passes: an auditor's and the core's have no partner. */
async function tokenFor(of: TestApi, partnerId: string, { scope }: Target): Promise<string> {
  return of.token(SCOPES_WITHOUT_PARTNER.includes(scope) ? undefined : partnerId, [scope]);
}

test('every operation refuses a request without a token', async () => {
  expect(operations.length).toBeGreaterThan(30);
  expect(await others(api, '401 CREDENCIAL_INVALIDA', async () => ({}))).toEqual([]);
});

test('every operation refuses a token with every scope but its own', async () => {
  const partnerId = await api.partner();
  // In the place of webhooks:read stands webhooks:mascarado, too (masked-reads.db.test.ts).
  const isOwn = (held: string, scope: string) =>
    held === scope || (scope === 'webhooks:read' && held === 'webhooks:mascarado');
  const sendingFor = async ({ scope }: Target) => ({
    token: await api.token(
      partnerId,
      SCOPES.filter((held) => !isOwn(held, scope)),
    ),
  });
  expect(await others(api, '403 ESCOPO_INSUFICIENTE', sendingFor)).toEqual([]);
});

test('every operation refuses a partner over the limit of requests', async () => {
  const partnerId = await limited.partner();
  const sendingFor = async (target: Target) => ({ token: await tokenFor(limited, partnerId, target) });
  await others(limited, '', sendingFor, operations.slice(0, 1));
  const ofPartners = operations.filter(({ scope }) => !SCOPES_WITHOUT_PARTNER.includes(scope));
  expect(await others(limited, '429 LIMITE_DE_REQUISICOES', sendingFor, ofPartners)).toEqual([]);
});

test.each([
  ['that is no JSON', '400 ERRO_VALIDACAO', { body: '{' }],
  ['of another media type', '415 TIPO_NAO_SUPORTADO', { body: 'a', headers: { 'Content-Type': 'text/plain' } }],
  ['announced as too large', '413 CORPO_MUITO_GRANDE', { body: '{}', headers: { 'Content-Length': '99999999999' } }],
])('every operation refuses a body %s', async (_what, expected, sending) => {
  const partnerId = await api.partner();
  // What is sent to a loan's documents is read only when there is such a loan.
  const reading = operations.filter(({ method, path }) => method !== 'GET' && !path.includes('/documentos'));
  const sendingFor = async (target: Target) => ({ ...sending, token: await tokenFor(api, partnerId, target) });
  expect(await others(api, expected, sendingFor, reading)).toEqual([]);
});

test('every operation refuses a parameter of the query that it does not know, and names it', async () => {
  const partnerId = await api.partner();
  const wrong: string[] = [];
  for (const target of operations.filter(({ path }) => !path.includes('/documentos'))) {
    const { status, body } = await api.send(target.method, `${target.path}?inventado=1`, {
      token: await tokenFor(api, partnerId, target),
      ...(target.method !== 'GET' && { body: {} }),
    });
    if (status === 400 && body.detalhes?.some(({ campo }) => campo === 'inventado')) continue;
    wrong.push(`${target.method} ${target.path} ${status}`);
  }
  expect(wrong).toEqual([]);
});

test('every field that a body lacks is named as missing, before its rule', async () => {
  const partnerId = await api.partner();
  const wrong: string[] = [];
  let missing = 0;
  for (const target of operations.filter(({ method, path }) => method !== 'GET' && !path.includes('/documentos'))) {
    const { body } = await api.send(target.method, target.path, {
      token: await tokenFor(api, partnerId, target),
      body: {},
      headers: { 'Idempotency-Key': crypto.randomUUID() },
    });
    for (const { campo, mensagem } of body?.detalhes ?? []) {
      // Where any of several fields would do, none of them is missing.
      if (/ao menos um campo$|^informe /.test(mensagem)) continue;
      missing += 1;
      if (!/^é obrigatório(: |$)/.test(mensagem)) wrong.push(`${target.method} ${target.path} ${campo} ${mensagem}`);
    }
  }
  expect(missing).toBeGreaterThan(20);
  expect(wrong).toEqual([]);
});
