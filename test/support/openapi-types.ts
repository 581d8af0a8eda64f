/**
 * The description as the types that openapi-fetch takes (`paths`, as openapi-typescript writes them, which needs the
 * JavaScript API of TypeScript 5 as its own peer). Knows the JSON Schema that our description uses, and throws at any other.
 */
import {
  type ApiDescription,
  answerOf,
  type DescribedOperation,
  type JsonSchema,
  type Parameter,
} from './description.ts';

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];

export function typesOf(description: ApiDescription): string {
  const { paths, components } = description;
  const schemas = Object.entries(components.schemas).map(
    ([name, schema]) => `    ${quoted(name)}: ${typeOf(schema)};\n`,
  );
  const described = Object.entries(paths).map(([path, operations]) => {
    const methods = METHODS.map((method) => {
      const operation = operations[method];
      return operation === undefined
        ? `    ${method}?: never;\n`
        : `    ${method}: ${operationType(description, operation)};\n`;
    });
    return `  ${quoted(path)}: {\n${methods.join('')}  };\n`;
  });
  return [
    '// Made from /openapi.json by test/support/openapi-types.ts; `vitest -u` writes it again.\n',
    `export interface paths {\n${described.join('')}}\n`,
    `export interface components {\n  schemas: {\n${schemas.join('')}  };\n}\n`,
  ].join('\n');
}

function operationType(description: ApiDescription, operation: DescribedOperation): string {
  const { parameters, requestBody, responses } = operation;
  const places = (['query', 'header', 'path'] as const).map((place) =>
    parametersType(
      place,
      parameters.filter((parameter) => parameter.in === place),
    ),
  );
  const body = requestBody === undefined ? 'requestBody?: never' : `requestBody: { ${contentType(requestBody)} }`;
  const answers = Object.keys(responses).map((status) => {
    const content = contentType(answerOf(description, operation, status) ?? {});
    return `        ${status}: { headers: Record<string, unknown>; ${content} };\n`;
  });
  const lines = [`parameters: { ${places.join('; ')}; cookie?: never };`, `${body};`];
  return `{\n${lines.map((line) => `      ${line}\n`).join('')}      responses: {\n${answers.join('')}      };\n    }`;
}

function parametersType(place: string, parameters: readonly Parameter[]): string {
  if (parameters.length === 0) return `${place}?: never`;
  const fields = parameters.map(({ name, required, schema }) => field(name, required, schema));
  return `${place}${parameters.some(({ required }) => required) ? '' : '?'}: { ${fields.join('; ')} }`;
}

function contentType({
  content,
}: {
  readonly content?: Readonly<Record<string, { readonly schema: JsonSchema }>>;
}): string {
  if (content === undefined) return 'content?: never';
  const media = Object.entries(content).map(([type, { schema }]) => `${quoted(type)}: ${typeOf(schema)}`);
  return `content: { ${media.join('; ')} }`;
}

function typeOf(schema: JsonSchema): string {
  const { $ref, type, properties, required = [], items, additionalProperties, allOf, anyOf = schema.oneOf } = schema;
  if ($ref !== undefined) return `components['schemas'][${quoted($ref.replace('#/components/schemas/', ''))}]`;
  if (allOf) return allOf.map((part) => `(${typeOf(part)})`).join(' & ');
  if (anyOf) return [...new Set(anyOf.map((part) => `(${typeOf(part)})`))].join(' | ');
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  if (Array.isArray(type)) return type.map((one: string) => `(${typeOf({ ...schema, type: one })})`).join(' | ');
  if (type === 'array') return `(${typeOf(items ?? {})})[]`;
  if (type === 'integer') return 'number';
  if (type === 'object') {
    if (properties === undefined)
      return `Record<string, ${typeof additionalProperties === 'object' ? typeOf(additionalProperties) : 'unknown'}>`;
    const fields = Object.entries(properties).map(([name, part]) => field(name, required.includes(name), part));
    return `{ ${fields.join('; ')} }`;
  }
  if (type === undefined) return 'unknown';
  if (type === 'string' || type === 'number' || type === 'boolean' || type === 'null') return type;
  throw new Error(`no type is known for ${JSON.stringify(schema)}`);
}

function field(name: string, isRequired: boolean, schema: JsonSchema): string {
  return `${quoted(name)}${isRequired ? '' : '?'}: ${typeOf(schema)}`;
}

function quoted(text: string): string {
  return `'${text}'`;
}
