/**
 * What the description calls valid is never answered 400, on any operation, whatever its fields hold: only the state of
 * what it is about can refuse it; and what is another partner's is unknown to every operation. The requests are made from
 * /openapi.json alone.
 *
 * Twelve rules stand in no schema, and the requests keep to them: a log's head is one that it had; a cursor, and an export's `corte`, is one that the service
 * wrote; `parceiro_id` names a partner; a
 * `consulta_margem_id` one that it gave for this worker; `documentos` names each type once; `ate` is not before `de`, and at
 * most 31 days after it; `vale_em` lies in the next 24 hours; `data` of a test is its event's, with the example's ids;
 * `certificado` is a certificate with its key; `cabecalhos` have 4 KiB together and no name twice; an alert's `codigo` is one that was
 * sent, so its operation is left out.
 */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { SCOPES, type Scope } from '../../src/contract/statuses.ts';
import type { ApiDescription, DescribedOperation, Parameter } from '../support/description.ts';
import { startPartnerWorld } from '../support/partner-world.ts';
import { schemaArbitraries } from '../support/schema-arbitrary.ts';

const RUNS = 15;
const WRITTEN_BY_THE_SERVICE = new Set(['cursor', 'depois', 'tentativas_depois']);

interface Valid {
  readonly path: Readonly<Record<string, unknown>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly header: Readonly<Record<string, unknown>>;
  readonly body: unknown;
}
/** Before every row. */
const CUT = '0-0';

const world = await startPartnerWorld();
const partner = await world.partner();
const token = await world.api.token(
  partner.id,
  SCOPES.filter((scope) => scope !== 'auditoria:read'),
);
const auditor = await world.api.token(undefined, ['auditoria:read', 'auditoria:cpf']);
const core = await world.api.token(undefined, ['nucleo']);
const operator = await world.api.token(undefined, ['operador']);
const loan = await partner.newLoan();
const [row] = await world.api.database.sql<[{ id: string }]>`select id from webhooks where partner_id = ${partner.id}`;
const webhook = row.id;
await partner.accepted(`/v1/sandbox/emprestimos/${loan}/assinatura`);
const [delivery] = await world.api.database.sql<[{ id: string; event: string }]>`
  select id, event_id as event from deliveries where partner_id = ${partner.id}`;
const description: ApiDescription = (await (
  await world.api.app.request('/openapi.json?para=tudo')
).json()) as ApiDescription;

/** The parameters of one place, by name; those that are not required may be left out. */
function parametersIn(
  place: Parameter['in'],
  { parameters }: DescribedOperation,
): fc.Arbitrary<Record<string, unknown>> {
  const make = schemaArbitraries(description);
  const named = parameters.filter((parameter) => parameter.in === place && !WRITTEN_BY_THE_SERVICE.has(parameter.name));
  const requiredKeys = named.filter(({ required }) => required).map(({ name }) => name);
  return fc.record(Object.fromEntries(named.map(({ name, schema }) => [name, make(schema)])), { requiredKeys });
}

function validRequests(operation: DescribedOperation): fc.Arbitrary<Valid> {
  const schema = operation.requestBody?.content['application/json']?.schema;
  const body = schema === undefined ? fc.constant(undefined) : schemaArbitraries(description)(schema);
  return fc
    .record({
      path: parametersIn('path', operation),
      query: parametersIn('query', operation),
      header: parametersIn('header', operation),
      body,
    })
    .map((valid) => keptToRules(valid, operation));
}

function keptToRules({ query, body, ...rest }: Valid, { parameters }: DescribedOperation): Valid {
  const {
    cursor: _,
    cabeca: ______,
    certificado,
    consulta_margem_id: __,
    data: ___,
    data_liberacao: ____,
    ...sent
  } = Object(body) as Record<string, unknown> & {
    documentos?: { tipo: string }[];
    certificado?: unknown;
    cabecalhos?: Record<string, string>;
  };
  const { documentos, cabecalhos } = sent;
  const short = Object.entries(cabecalhos ?? {}).map(([name, value]): [string, string] => [
    name.toLowerCase(),
    value.slice(0, 500).trim(),
  ]);
  // A partner's account has a word of this name.
  const once =
    Array.isArray(documentos) &&
    documentos.filter(({ tipo }, at) => documentos.findIndex((other) => other.tipo === tipo) === at);
  const { de, ate } = query;
  const { corte: _____, ...uncut } = query;
  return {
    ...rest,
    query: {
      ...uncut,
      ...(de !== undefined && ate !== undefined && { ate: de }),
      // Of an export it goes with `depois` alone.
      ...((query['depois'] !== undefined || parameters.some((one) => one.name === 'corte' && one.required)) && {
        corte: CUT,
      }),
    },
    body:
      body === undefined
        ? undefined
        : {
            ...sent,
            ...(once && { documentos: once }),
            ...(cabecalhos && { cabecalhos: Object.fromEntries(short) }),
            // In its place, so that something is left.
            ...(certificado !== undefined && { cabecalhos: { 'X-Api-Key': 'k' } }),
            ...(Object.hasOwn(sent, 'parceiro_id') && { parceiro_id: partner.id }),
          },
  };
}

/** The token of the lender's own people or core; undefined where partners ask. */
function lendersToken({ security }: DescribedOperation): string | undefined {
  const [{ bearer: [scope] = [] } = {}] = security as { readonly bearer?: Scope[] }[];
  const own = { 'auditoria:read': auditor, nucleo: core, operador: operator } as Partial<Record<Scope, string>>;
  return scope && own[scope];
}

/** What the partner has under the ids of a path. */
function knownOf(path: string): string {
  if (path.startsWith('/v1/webhooks')) return webhook;
  if (path.startsWith('/v1/entregas')) return delivery.id;
  return path.startsWith('/v1/eventos') ? delivery.event : loan;
}

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly operation: DescribedOperation;
}

/** Sends what is valid, about what `id` names where it is given. */
async function send({ method, path }: Asked, valid: Valid, bearer: string, id: string | null) {
  const real = path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String((name === 'id' ? id : null) ?? valid.path[name])),
  );
  const query = new URLSearchParams(
    Object.entries(valid.query).map(([name, value]): [string, string] => [name, String(value)]),
  );
  const body =
    id !== null && Object.hasOwn(Object(valid.body), 'emprestimo_id')
      ? { ...(valid.body as object), emprestimo_id: loan }
      : valid.body;
  const text = body === undefined ? null : JSON.stringify(body);
  return world.api.app.request(`${real}?${query.toString()}`, {
    method: method.toUpperCase(),
    headers: {
      Authorization: `Bearer ${bearer}`,
      ...(text !== null && { 'Content-Type': 'application/json', 'Content-Length': String(Buffer.byteLength(text)) }),
      ...(valid.header as Record<string, string>),
    },
    body: text,
  });
}

const operations: readonly Asked[] = Object.entries(description.paths)
  .filter(([path]) => path !== '/v1/alertas/confirmacao')
  .flatMap(([path, methods]) => Object.entries(methods).map(([method, operation]) => ({ method, path, operation })));

/** The operations that answered a valid request with a status beside `expected`, each with one such request. */
async function answeredOtherwise(
  asked: readonly Asked[],
  expected: ReadonlySet<number>,
  as: (one: Asked) => { readonly bearer: string; readonly ids: readonly (string | null)[] },
): Promise<string[]> {
  const faults: string[] = [];
  for (const one of asked) {
    const { bearer, ids } = as(one);
    const property = fc.asyncProperty(validRequests(one.operation), fc.constantFrom(...ids), async (valid, id) => {
      const answer = await send(one, valid, bearer, id);
      if (!expected.has(answer.status)) throw new Error(`${answer.status} ${(await answer.text()).slice(0, 400)}`);
      await answer.body?.cancel();
    });
    const result = await fc.check(property, { numRuns: RUNS, seed: 18 });
    if (!result.failed) continue;
    const request = JSON.stringify(result.counterexample);
    faults.push(`${one.method} ${one.path}: ${request} → ${String(result.errorInstance)}`);
  }
  return faults;
}

async function allOfPartner() {
  return world.api.database.sql`
    select (select jsonb_agg(l order by id) from loans l where partner_id = ${partner.id}) as loans,
           (select jsonb_agg(w order by id) from webhooks w where partner_id = ${partner.id}) as webhooks,
           (select jsonb_agg(d order by id) from deliveries d where partner_id = ${partner.id}) as deliveries,
           (select jsonb_agg(e order by position) from events e where partner_id = ${partner.id}) as events`;
}

const MAY_BE_ANSWERED = new Set([200, 201, 202, 204, 404, 409, 422, 502]);

test('a request that is valid by its schema is refused for reasons of state alone', async () => {
  expect(operations.length).toBeGreaterThan(30);
  // Half of the requests are about what exists.
  const faults = await answeredOtherwise(operations, MAY_BE_ANSWERED, ({ path, operation }) => ({
    bearer: lendersToken(operation) ?? token,
    ids: [null, knownOf(path)],
  }));
  expect(faults).toEqual([]);
});

test('what another partner has is 404 to every operation that names it, like an unknown id and none, and stays as it is', async () => {
  const before = await allOfPartner();
  const strangers = await world.api.token(
    await world.api.partner(),
    SCOPES.filter((scope) => scope !== 'auditoria:read'),
  );
  const naming = operations.filter(
    ({ operation, path }) => lendersToken(operation) === undefined && path.includes('{id}'),
  );
  expect(naming.length).toBeGreaterThan(25);
  const faults = await answeredOtherwise(naming, new Set([404]), ({ path }) => ({
    bearer: strangers,
    ids: [knownOf(path), crypto.randomUUID(), 'x'],
  }));
  expect(faults).toEqual([]);
  expect(await allOfPartner()).toEqual(before);
});
