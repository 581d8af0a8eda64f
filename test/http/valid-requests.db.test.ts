/**
 * What the description calls valid is never answered 400, on any operation, whatever its fields hold: only the state of
 * what it is about can refuse it. The requests are made from /openapi.json alone.
 *
 * Nine rules stand in no schema, and the requests keep to them: a log's head is one that it had; a cursor, and an export's `corte`, is one that the service
 * wrote; `parceiro_id` names a partner; a
 * `consulta_margem_id` one that it gave for this worker; `documentos` names each type once; `ate` is not before `de`, and at
 * most 31 days after it; `vale_em` lies in the next 24 hours; `data` of a test is its event's, with the example's ids.
 */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { SCOPES, type Scope } from '../../src/contract/statuses.ts';
import type { ApiDescription, DescribedOperation, Parameter } from '../support/description.ts';
import { startPartnerWorld } from '../support/partner-world.ts';
import { schemaArbitraries } from '../support/schema-arbitrary.ts';

const RUNS = 15;
const WRITTEN_BY_THE_SERVICE = new Set(['cursor', 'depois']);

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
const auditor = await world.api.token(undefined, ['auditoria:read']);
const core = await world.api.token(undefined, ['nucleo']);
const operator = await world.api.token(undefined, ['operador']);
const loan = await partner.newLoan();
const [row] = await world.api.database.sql<[{ id: string }]>`select id from webhooks where partner_id = ${partner.id}`;
const webhook = row.id;
const description: ApiDescription = (await (await world.api.app.request('/openapi.json')).json()) as ApiDescription;

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
    consulta_margem_id: __,
    data: ___,
    data_liberacao: ____,
    ...sent
  } = Object(body) as Record<string, unknown> & { documentos?: { tipo: string }[] };
  const { documentos } = sent;
  const once = documentos?.filter(({ tipo }, at) => documentos.findIndex((other) => other.tipo === tipo) === at);
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
            ...(Object.hasOwn(sent, 'parceiro_id') && { parceiro_id: partner.id }),
          },
  };
}

function tokenFor(scope: Scope | undefined): string {
  const own = { 'auditoria:read': auditor, nucleo: core, operador: operator } as Partial<Record<Scope, string>>;
  return (scope && own[scope]) ?? token;
}

/** Half of the requests are about what exists. */
async function send(method: string, path: string, operation: DescribedOperation, valid: Valid, isKnown: boolean) {
  const known = path.startsWith('/v1/webhooks') ? webhook : loan;
  const real = path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String(name === 'id' && isKnown ? known : valid.path[name])),
  );
  const query = new URLSearchParams(
    Object.entries(valid.query).map(([name, value]): [string, string] => [name, String(value)]),
  );
  const body =
    isKnown && Object.hasOwn(Object(valid.body), 'emprestimo_id')
      ? { ...(valid.body as object), emprestimo_id: loan }
      : valid.body;
  const [{ bearer: [scope] = [] } = {}] = operation.security as { readonly bearer?: Scope[] }[];
  const text = body === undefined ? null : JSON.stringify(body);
  return world.api.app.request(`${real}?${query.toString()}`, {
    method: method.toUpperCase(),
    headers: {
      Authorization: `Bearer ${tokenFor(scope)}`,
      ...(text !== null && { 'Content-Type': 'application/json', 'Content-Length': String(Buffer.byteLength(text)) }),
      ...(valid.header as Record<string, string>),
    },
    body: text,
  });
}

const MAY_BE_ANSWERED = new Set([200, 201, 202, 204, 404, 409, 422, 502]);

test('a request that is valid by its schema is refused for reasons of state alone', async () => {
  const operations = Object.entries(description.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method, path, operation })),
  );
  expect(operations.length).toBeGreaterThan(30);
  const faults: string[] = [];
  for (const { method, path, operation } of operations) {
    const property = fc.asyncProperty(validRequests(operation), fc.boolean(), async (valid, isKnown) => {
      const answer = await send(method, path, operation, valid, isKnown);
      if (!MAY_BE_ANSWERED.has(answer.status))
        throw new Error(`${answer.status} ${(await answer.text()).slice(0, 400)}`);
      await answer.body?.cancel();
    });
    const result = await fc.check(property, { numRuns: RUNS, seed: 18 });
    if (result.failed) {
      faults.push(`${method} ${path}: ${JSON.stringify(result.counterexample)} → ${String(result.errorInstance)}`);
    }
  }
  expect(faults).toEqual([]);
});
