/**
 * What a route may answer, as the compiler sees it: each line under `@ts-expect-error` must not compile, so a type that
 * lets it through fails `npm run check:types`.
 */
import { expect, test } from 'vitest';
import { z } from 'zod';
import type { Refusal } from '../../src/contract/refusals.ts';
import { JsonStream, BodyStream } from '../../src/http/answer.ts';
import { route } from '../../src/http/route.ts';
import { refusalError } from '../../src/http/api-error.ts';

const SAID = { pt: '', en: '' };
const item = z.strictObject({ nome: z.string() });
const none = { summary: SAID, answers: { 204: { description: SAID } }, errors: ['NAO_ENCONTRADO'] } as const;
const get = 'GET /x';
const ofOne = route(get, 'webhooks:read', { summary: SAID, answers: { 200: { description: SAID, schema: item } } });
const ofNone = route(get, 'webhooks:read', none);
const ofText = route(get, 'webhooks:read', {
  summary: SAID,
  answers: { 200: { description: SAID, fileTypes: ['text/csv'] } },
});
const ofPlaced = route(get, 'webhooks:read', {
  summary: SAID,
  answers: { 201: { description: SAID, schema: item, headers: { Location: SAID } } },
});
async function* chunks() {
  yield '';
}

test('a route answers what its operation declares', () => {
  const made = ofOne(async () => ({ status: 200, body: { nome: '' } }));
  expect(made.operation).toMatchObject({ method: 'get', path: '/x', scope: 'webhooks:read' });
  ofOne(async () => ({ status: 200, body: new JsonStream<{ nome: string }>(chunks()) }));
  ofNone(async ({ partnerId }) => (partnerId === '' ? { refused: { kind: 'notFound' } } : { status: 204 }));
  const ofId = route('GET /x/{id}', 'webhooks:read', { summary: SAID, answers: { 204: { description: SAID } } });
  ofId(async ({ id }) => (id === '' ? { refused: { kind: 'notFound' } } : { status: 204 }));
  ofText(async () => ({ status: 200, body: new BodyStream('text/csv; header=present', chunks()) }));
  ofPlaced(async () => ({ status: 201, body: { nome: '' }, headers: { Location: '/' } }));
});

test('and nothing else', () => {
  // @ts-expect-error -- a status that is not declared
  ofOne(async () => ({ status: 201, body: { nome: '' } }));
  // @ts-expect-error -- a body of another type
  ofOne(async () => ({ status: 200, body: { nome: 1 } }));
  // @ts-expect-error -- no body
  ofOne(async () => ({ status: 200 }));
  // @ts-expect-error -- a body where none is declared
  ofNone(async () => ({ status: 204, body: {} }));
  // @ts-expect-error -- a header that is not declared
  ofOne(async () => ({ status: 200, body: { nome: '' }, headers: { Location: '/' } }));
  // @ts-expect-error -- without the header that is declared
  ofPlaced(async () => ({ status: 201, body: { nome: '' } }));
  // @ts-expect-error -- text of another media type
  ofText(async () => ({ status: 200, body: new BodyStream('text/html', chunks()) }));
  // @ts-expect-error -- a refusal whose code is not declared
  const made = ofOne(async () => ({ refused: { kind: 'notFound' } }));
  expect(made.operation.errors).toBeUndefined();
});

test('whose request names no partner has none in its call', () => {
  // @ts-expect-error -- an auditor speaks for no partner
  route(get, 'auditoria:read', none)(async ({ partnerId }) => ({ status: 204, partnerId }));
  // @ts-expect-error -- nor does the loan core
  route(get, 'nucleo', none)(async ({ partnerId }) => ({ status: 204, partnerId }));
  // @ts-expect-error -- and what an auditor may see is no partner's
  const made = ofNone(async ({ seesCpf }) => ({ status: 204, seesCpf }));
  expect(made.operation.scope).toBe('webhooks:read');
});

const until = new Date('2026-01-31T12:00:00Z');
const refusals: readonly (readonly [Refusal, string, string])[] = [
  [{ kind: 'notFound' }, 'NAO_ENCONTRADO', 'recurso não encontrado'],
  [
    { kind: 'loanState', what: 'Não é possível averbar', status: 'emitindo', why: null },
    'TRANSICAO_INVALIDA',
    'Não é possível averbar: o status do empréstimo é emitindo',
  ],
  [
    {
      kind: 'loanState',
      what: 'Não é possível averbar',
      status: 'averbada',
      why: 'com uma averbação em processamento',
    },
    'TRANSICAO_INVALIDA',
    'Não é possível averbar: o status do empréstimo é averbada, com uma averbação em processamento',
  ],
  [{ kind: 'keyDiverges' }, 'IDEMPOTENCIA_DIVERGENTE', 'esta Idempotency-Key já foi usada com outro corpo'],
  [
    { kind: 'previousSecretSigns', until },
    'TRANSICAO_INVALIDA',
    'o secret anterior ainda assina até 2026-01-31T12:00:00.000Z; encerre-o antes com DELETE …/segredo/anterior',
  ],
];

test.each(refusals)('the refusal %j is %s', (refusal, code, message) => {
  expect(refusalError(refusal)).toMatchObject({ code, message });
});
