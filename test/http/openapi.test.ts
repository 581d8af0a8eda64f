import { createConfig, lintFromString } from '@redocly/openapi-core';
import { expect, test } from 'vitest';
import { EVENTS, SUBSCRIBABLE_NAMES } from '../../src/contract/events.ts';
import { createBareApp, describedBy } from '../support/bare-app.ts';
import { schemaChecker } from '../support/described-answers.ts';
import type { ApiDescription, JsonSchema } from '../support/description.ts';

const app = createBareApp();
const answerOf = async (path: string) => app.request(path);
const described = JSON.stringify(await describedBy(app));
const description = () => JSON.parse(described) as ApiDescription;

/** What Redocly's recommended rules say, warnings included; none of them is left out. */
async function lint(source: string): Promise<string[]> {
  const problems = await lintFromString({ source, config: await createConfig({ extends: ['recommended'] }) });
  return problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} at ${location[0]?.pointer}`);
}

test('the description is served without a token, and the linter sees what it lacks', async () => {
  const answer = await answerOf('/openapi.json');
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toBe('application/json');
  const spoiled = (await answer.json()) as { tags: { name: string }[] };
  expect(await lint(JSON.stringify({ ...spoiled, tags: [{ name: 'webhooks' }] }))).toEqual([
    expect.stringContaining('tag-description'),
  ]);
});

test('every operation is described, the sandbox only where it exists', async () => {
  const paths = Object.keys((await describedBy(createBareApp({ isSandbox: false }))).paths);
  expect(paths).toEqual(expect.arrayContaining(['/v1/webhooks', '/v1/emprestimos', '/v1/emprestimos/{id}/averbacao']));
  expect(paths.filter((path) => path.startsWith('/v1/sandbox'))).toEqual([]);
  expect(Object.keys(description().paths)).toContain('/v1/sandbox/tempo');
});

test.each([
  ['', ['alertas', 'emprestimos', 'entregas', 'eventos', 'webhooks'], ['nucleo', 'operador', 'auditoria']],
  ['?para=parceiro', ['webhooks'], ['nucleo', 'operador', 'auditoria']],
  ['?para=nucleo', ['nucleo'], ['webhooks', 'operador', 'auditoria']],
  ['?para=operador', ['operador'], ['webhooks', 'nucleo', 'auditoria']],
  ['?para=auditoria', ['auditoria'], ['webhooks', 'nucleo', 'operador']],
  ['?para=tudo', ['webhooks', 'nucleo', 'operador', 'auditoria'], []],
])('/openapi.json%s has the operations of %j, none of %j, and passes the linter', async (query, has, lacks) => {
  const text = await (await answerOf(`/openapi.json${query}`)).text();
  const areas = new Set(
    Object.keys((JSON.parse(text) as ApiDescription).paths).map((path) => path.split('/')[2] ?? ''),
  );
  expect(has.filter((area) => !areas.has(area))).toEqual([]);
  expect(lacks.filter((area) => areas.has(area))).toEqual([]);
  expect(await lint(text)).toEqual([]);
});

test('a description for somebody unknown is 400 and names the word', async () => {
  const answer = await answerOf('/openapi.json?para=todos');
  expect([answer.status, await answer.json()]).toMatchObject([400, { detalhes: [{ campo: 'para' }] }]);
});

test('an operation tells its scope, its key and its refusals, each with an example', async () => {
  const { paths, components } = description();
  const operation = paths['/v1/webhooks']?.post;
  expect(operation?.security).toEqual([{ bearer: ['webhooks:write'] }]);
  expect(operation?.description).toContain('`webhooks:write` (registrar e alterar webhooks');
  expect(operation?.parameters).toMatchObject([{ name: 'Idempotency-Key', in: 'header', required: false }]);
  const statuses = ['201', '400', '401', '403', '409', '413', '415', '422', '429', '500', '503'];
  expect(Object.keys(operation?.responses ?? {})).toEqual(statuses);
  const conflict = operation?.responses['409']?.content?.['application/json'];
  expect(Object.keys(conflict?.examples ?? {})).toEqual(['LIMITE_DE_WEBHOOKS', 'IDEMPOTENCIA_EM_ANDAMENTO']);
  expect(components.examples).toMatchObject({ LIMITE_DE_WEBHOOKS: { value: { codigo: 'LIMITE_DE_WEBHOOKS' } } });
});

test('every parameter in a path and a query is described', async () => {
  const { paths } = description();
  const piece = paths['/v1/emprestimos/{id}/documentos/{tipo}']?.post;
  expect(piece?.parameters.map(({ name, in: place }) => `${place} ${name}`)).toEqual(['path id', 'path tipo']);
  const bonds = paths['/v1/vinculos/novos']?.get;
  expect(bonds?.parameters.map(({ name }) => name)).toEqual(['desde', 'ate', 'cursor', 'limite']);
});

test('the emitted events and the two notices are top-level webhooks with their envelope, payload and headers', async () => {
  const { webhooks, components } = description();
  expect(Object.keys(webhooks)).toEqual(SUBSCRIBABLE_NAMES);
  for (const name of SUBSCRIBABLE_NAMES) {
    const { post } = webhooks[name] ?? {};
    const reference = post?.requestBody?.content['application/json']?.schema.$ref ?? '';
    const schema = components.schemas[reference.replace('#/components/schemas/', '')];
    expect(schema?.required).toEqual(['evento', 'timestamp', 'data']);
    expect(Object.keys(schema?.properties?.data?.properties ?? {})).toEqual(Object.keys(EVENTS[name].data.shape));
    expect(Object.keys(post?.responses ?? {})).toEqual(['2XX', 'default']);
  }
  const required = Object.values(components.parameters).filter((header) => header.required);
  expect(required.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['X-Webhook-Delivery', 'X-Webhook-Signature']),
  );
});

test('a receiver that validates takes fields that a later version adds, at every depth of every event', async () => {
  const { components } = description();
  const closed = (schema: unknown) => JSON.stringify(schema).includes('"additionalProperties":false');
  const events = Object.keys(components.schemas).filter((name) => /^Evento(?!DoParceiro)/.test(name));
  expect(events).toHaveLength(SUBSCRIBABLE_NAMES.length);
  expect(events.filter((name) => closed(components.schemas[name]))).toEqual([]);
  expect(events.filter((name) => JSON.stringify(components.schemas[name]).includes('$ref'))).toEqual([]);
  expect(closed(components.schemas['CodigoEDescricao'])).toBe(true);
});

test('every field bears an example that fits it, so that the page shows no placeholder', async () => {
  const described = description();
  const fit = schemaChecker(described);
  const bare = new Set<string>();
  const madeFrom = ['$ref', 'enum', 'const', 'format', 'pattern', 'examples'];
  const look = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    const { properties = {} } = value as JsonSchema;
    for (const [name, schema] of Object.entries(properties)) {
      const isScalar = [schema.type].flat().some((type) => ['string', 'integer', 'number'].includes(type ?? ''));
      if (isScalar && !madeFrom.some((key) => key in schema)) bare.add(name);
      for (const example of schema.examples ?? []) fit(`the example of ${name}`, schema, example);
    }
    for (const part of Object.values(value)) look(part);
  };
  look(described);
  expect([...bare]).toEqual([]);
  const bodies = Object.values(described.paths).flatMap((methods) =>
    Object.values(methods).flatMap(({ requestBody }) => Object.values(requestBody?.content ?? {})),
  );
  const whole = bodies.filter(({ example }) => example !== undefined);
  expect(whole.length).toBeGreaterThan(0);
  for (const { schema, example } of whole) fit('the example of a body', schema, example);
});

test('a margin may be below zero wherever it is told, and no two enums give a Go client one constant', async () => {
  const { components, paths } = description();
  const schemas = { ...components.schemas, paths } as Readonly<Record<string, unknown>>;
  const minima =
    JSON.stringify(schemas).match(/"(valor_margem_disponivel|margem_disponivel)":\{[^}]*"minimum":[^,}]*/g) ?? [];
  expect(minima.length).toBeGreaterThan(3);
  expect(minima.filter((one) => !one.includes('"minimum":-'))).toEqual([]);
  const constants = Object.values(components.schemas).flatMap((one) => {
    const { enum: values = [], 'x-enum-varnames': names = values } = one as {
      enum?: string[];
      'x-enum-varnames'?: string[];
    };
    return names.map((name) => name.replaceAll('.', '_').toUpperCase());
  });
  expect(constants.length).toBeGreaterThan(30);
  expect(new Set(constants).size).toBe(constants.length);
});

test('nothing is described that a generated client of some language does not compile with', async () => {
  const { components, paths, webhooks } = description();
  const faults: string[] = [];
  const look = (part: unknown, at: string): void => {
    if (typeof part !== 'object' || part === null) return;
    const schema = part as Readonly<Record<string, unknown>>;
    // Java writes a default as a constant of its enum, under the name that x-enum-varnames has replaced.
    if ('default' in schema && 'type' in schema && JSON.stringify(schema).includes('"$ref"'))
      faults.push(`${at}: a default of a component`);
    // C# compares a parsed instant with the pattern of its text, and makes an enum of a constant.
    if (schema['format'] === 'date-time' && 'pattern' in schema) faults.push(`${at}: an instant's pattern`);
    if ('const' in schema && 'type' in schema && schema['type'] !== 'string') faults.push(`${at}: a constant`);
    // PHP takes getPassoS for getPassos.
    const names = Object.keys(schema['properties'] ?? {}).map((name) => name.replaceAll('_', ''));
    if (new Set(names).size < names.length) faults.push(`${at}: two fields with one name but for underscores`);
    for (const [key, inner] of Object.entries(schema)) look(inner, `${at}/${key}`);
  };
  look({ components, paths, webhooks }, '');
  expect(faults).toEqual([]);
});

test('every event tells in a line what it means', async () => {
  const { webhooks } = description();
  const lines = Object.values(webhooks).map(({ post }) => post.summary);
  expect(new Set(lines).size).toBe(SUBSCRIBABLE_NAMES.length);
  expect(lines.filter((line) => line.length > 100 || line.endsWith('.'))).toEqual([]);
});
