/**
 * The interface as a Postman collection (format 2.1, which Bruno and Insomnia import too), made from the description: an
 * operation that is described is in it. Each request is ready to send: its body holds the required fields with their
 * examples, its ids are variables, and the answers that create a webhook or a loan set theirs.
 */
import type { Json } from './schemas.ts';

const COMPONENTS = '#/components/schemas/';
const FORMAT = 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json';

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly examples?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
}

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly description?: string;
  readonly schema: Schema;
}

interface Operation {
  readonly summary: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly parameters: readonly Parameter[];
  readonly requestBody?: {
    readonly required: boolean;
    readonly content: Readonly<Record<string, { readonly schema: Schema; readonly example?: unknown }>>;
  };
}

/** The parts of the description that a collection is made from. */
export interface Description {
  readonly info: { readonly description: string };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** Whose token a folder's requests bear, where it is not the partner's. */
const TOKENS: Readonly<Record<string, string>> = { auditoria: 'token_auditor', nucleo: 'token_nucleo' };

const VARIABLES_TEXT = `Preencha a variável \`token\` com um token do parceiro; para as pastas auditoria e nucleo,
\`token_auditor\` e \`token_nucleo\`. Criar um webhook ou um empréstimo preenche \`webhook_id\` ou \`emprestimo_id\`.`;

/** What `{id}` names, by the segment before it. */
const IDS: Readonly<Record<string, string>> = {
  webhooks: 'webhook_id',
  entregas: 'entrega_id',
  eventos: 'evento_id',
  emprestimos: 'emprestimo_id',
};

/** Fields of bodies that are variables too. */
const FIELDS = new Set(['emprestimo_id', 'parceiro_id']);

/** The requests whose answer sets a variable for those that follow. */
const CREATES: Readonly<Record<string, string>> = {
  'POST /v1/webhooks': 'webhook_id',
  'POST /v1/emprestimos': 'emprestimo_id',
};

/** `description` is `/openapi.json`; `baseUrl` is where the API is served, without a slash at its end. */
export function describeCollection(description: Description, baseUrl: string): Json {
  const { info, tags, paths, components } = description;
  const requests = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      tag: operation.tags[0] ?? '',
      item: describeRequest(method.toUpperCase(), path, operation, components.schemas),
    })),
  );
  const variables = {
    baseUrl,
    token: '',
    ...named(Object.values(TOKENS)),
    ...named(Object.values(IDS)),
    parceiro_id: '',
  };
  return {
    info: { name: 'Carteiro', description: `${info.description}\n\n${VARIABLES_TEXT}`, schema: FORMAT },
    auth: bearer('token'),
    variable: Object.entries(variables).map(([key, value]) => ({ key, value, type: 'string' })),
    item: tags.map(({ name, description: meaning }) => {
      const item = requests.filter(({ tag }) => tag === name).map((request) => request.item);
      return { name, description: meaning, auth: bearer(TOKENS[name] ?? 'token'), item };
    }),
  };
}

const named = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, '']));

function bearer(variable: string): Json {
  return { type: 'bearer', bearer: [{ key: 'token', value: `{{${variable}}}`, type: 'string' }] };
}

function describeRequest(method: string, path: string, operation: Operation, schemas: Schemas): Json {
  const { summary, description, parameters, requestBody } = operation;
  const content = requestBody?.content['application/json'];
  const body = content && (content.example ?? exampleOf(content.schema, schemas, requestBody.required));
  const header = parameters.filter((parameter) => parameter.in === 'header').map((parameter) => keyHeader(parameter));
  const creates = CREATES[`${method} ${path}`];
  return {
    name: `${method} ${path}`,
    ...(creates !== undefined && { event: [setsVariable(creates)] }),
    request: {
      method,
      header: body === undefined ? header : [{ key: 'Content-Type', value: 'application/json' }, ...header],
      url: describeUrl(path, parameters, schemas),
      ...(body !== undefined && {
        body: { mode: 'raw', raw: JSON.stringify(body, null, 2), options: { raw: { language: 'json' } } },
      }),
      description: `${summary}\n\n${description}`,
    },
    response: [],
  };
}

/** A new key with each request; one that the operation does not require is left out until the partner ticks it. */
function keyHeader({ name, required, description = '' }: Parameter): Json {
  return { key: name, value: '{{$guid}}', description, disabled: !required };
}

function describeUrl(path: string, parameters: readonly Parameter[], schemas: Schemas): Json {
  const segments = path.split('/').slice(1);
  const filled = segments.map((segment, index) => {
    const name = /^\{(\w+)\}$/.exec(segment)?.[1];
    if (name === undefined) return segment;
    if (name === 'id') return `{{${IDS[segments[index - 1] ?? ''] ?? 'id'}}}`;
    const schema = parameters.find((parameter) => parameter.name === name)?.schema ?? {};
    return textOf(schema, schemas);
  });
  const query = parameters
    .filter((parameter) => parameter.in === 'query')
    .map(({ name, required, description = '', schema }) => {
      return { key: name, value: textOf(schema, schemas), description, disabled: !required };
    });
  const enabled = query.filter(({ disabled }) => !disabled).map(({ key, value }) => `${key}=${value}`);
  const raw = `{{baseUrl}}/${filled.join('/')}${enabled.length === 0 ? '' : `?${enabled.join('&')}`}`;
  return { raw, host: ['{{baseUrl}}'], path: filled, query };
}

/** Empty where nothing says what the value looks like. */
function textOf(schema: Schema, schemas: Schemas): string {
  const value = exampleOf(schema, schemas, true);
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

type Schemas = Readonly<Record<string, Schema>>;

/**
 * The required fields with their examples; where none is required, all of them, unless the body itself may be left out.
 * Undefined where nothing says what the value looks like.
 */
function exampleOf(schema: Schema, schemas: Schemas, isRequired: boolean): unknown {
  const { $ref, type, const: only, enum: values = [], examples = [], properties, required = [], items } = schema;
  if ($ref !== undefined) {
    return exampleOf(schemas[$ref.replace(COMPONENTS, '')] ?? {}, schemas, isRequired);
  }
  if (only !== undefined) return only;
  if (examples.length > 0) return examples[0];
  if (values.length > 0) return values[0];
  if (type === 'boolean') return true;
  // Every name of a closed list, so that a webhook gets every event; of other lists one example.
  if (items !== undefined) return namesOf(items, schemas) ?? [exampleOf(items, schemas, true)];
  if (properties === undefined) return undefined;
  const isAll = required.length === 0 && isRequired;
  const fields = Object.entries(properties).filter(([name]) => isAll || required.includes(name));
  return Object.fromEntries(
    fields.map(([name, field]) => [name, FIELDS.has(name) ? `{{${name}}}` : exampleOf(field, schemas, true)]),
  );
}

function namesOf({ $ref, enum: names }: Schema, schemas: Schemas): readonly unknown[] | undefined {
  return $ref === undefined ? names : namesOf(schemas[$ref.replace(COMPONENTS, '')] ?? {}, schemas);
}

/** Run by the client after the answer. */
function setsVariable(name: string): Json {
  const exec = [`if (pm.response.code < 300) pm.collectionVariables.set('${name}', pm.response.json().id);`];
  return { listen: 'test', script: { type: 'text/javascript', exec } };
}
