/**
 * What a route may answer, as the compiler sees it: each line under `@ts-expect-error` must not compile, so a type that
 * lets it through fails `npm run check:types`. At run time nothing is added.
 */
import { expect, test } from 'vitest';
import { z } from 'zod';
import type { Refusal } from '../../src/contract/refusals.ts';
import { JsonStream, BodyStream } from '../../src/http/answer.ts';
import type { AddOperation } from '../../src/http/operation.ts';
import { refusalError } from '../../src/http/refusals.ts';

const added: string[] = [];
const add: AddOperation = ({ path }) => void added.push(path);

const SAID = { pt: '', en: '' };
const item = z.strictObject({ nome: z.string() });
const shared = { method: 'get', path: '/', summary: SAID, scope: 'webhooks:read' } as const;
const one = { ...shared, answers: { 200: { description: SAID, schema: item } } } as const;
const none = { ...shared, answers: { 204: { description: SAID } }, errors: ['NAO_ENCONTRADO'] } as const;
const text = { ...shared, answers: { 200: { description: SAID, fileTypes: ['text/csv'] } } } as const;
const placed = {
  ...shared,
  answers: { 201: { description: SAID, schema: item, headers: { Location: SAID } } },
} as const;
async function* chunks() {
  yield '';
}

test('a route answers what its operation declares', () => {
  add(one, async () => ({ status: 200, body: { nome: '' } }));
  add(one, async () => ({ status: 200, body: new JsonStream<{ nome: string }>(chunks()) }));
  add(none, async ({ partnerId }) => (partnerId === '' ? { refused: { kind: 'notFound' } } : { status: 204 }));
  add(text, async () => ({ status: 200, body: new BodyStream('text/csv; header=present', chunks()) }));
  add(placed, async () => ({ status: 201, body: { nome: '' }, headers: { Location: '/' } }));
  expect(added).toHaveLength(5);
});

test('and nothing else', () => {
  // @ts-expect-error -- a status that is not declared
  add(one, async () => ({ status: 201, body: { nome: '' } }));
  // @ts-expect-error -- a body of another type
  add(one, async () => ({ status: 200, body: { nome: 1 } }));
  // @ts-expect-error -- no body
  add(one, async () => ({ status: 200 }));
  // @ts-expect-error -- a body where none is declared
  add(none, async () => ({ status: 204, body: {} }));
  // @ts-expect-error -- a header that is not declared
  add(one, async () => ({ status: 200, body: { nome: '' }, headers: { Location: '/' } }));
  // @ts-expect-error -- without the header that is declared
  add(placed, async () => ({ status: 201, body: { nome: '' } }));
  // @ts-expect-error -- text of another media type
  add(text, async () => ({ status: 200, body: new BodyStream('text/html', chunks()) }));
  // @ts-expect-error -- a refusal whose code is not declared
  add(one, async () => ({ refused: { kind: 'notFound' } }));
  expect(added.length).toBeGreaterThan(5);
});

test('whose request names no partner has none in its call', () => {
  // @ts-expect-error -- an auditor speaks for no partner
  add({ ...none, scope: 'auditoria:read' }, async ({ partnerId }) => ({ status: 204, partnerId }));
  // @ts-expect-error -- nor does the loan core
  add({ ...none, scope: 'nucleo' }, async ({ partnerId }) => ({ status: 204, partnerId }));
  // @ts-expect-error -- and what an auditor may see is no partner's
  add(none, async ({ seesCpf }) => ({ status: 204, seesCpf }));
  expect(added.length).toBeGreaterThan(0);
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
