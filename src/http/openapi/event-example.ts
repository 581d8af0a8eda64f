/** An event's data with invented values that fit its schema: what a partner tries its receiver with. Pure. */
import { z } from 'zod';
import { EVENTS, type SubscribableName } from '../../contract/events.ts';
import { withExample } from './examples.ts';

export type Json = Readonly<Record<string, unknown>>;

export const ID_EXAMPLE = '019a6e0b-7f3c-7d52-9a41-5c1d2e3f4a5b';
export const FORMATS: Readonly<Record<string, string>> = {
  uuid: ID_EXAMPLE,
  date: '2026-01-31',
  'date-time': '2026-01-31T12:00:00.000Z',
};

/** The JSON Schema of an event's data. */
export function schemaOf(name: SubscribableName): Json {
  return z.toJSONSchema(EVENTS[name].data, { unrepresentable: 'any' });
}

/** The data that an example of the event has. */
export function exampleData(name: SubscribableName): Json {
  const schema = schemaOf(name);
  return valueOf('data', schema, (schema['$defs'] ?? {}) as Json) as Json;
}

/** The schema that `$ref` names, or the schema itself. */
export function resolve(schema: Json, definitions: Json): Json {
  const reference = schema['$ref'];
  return typeof reference === 'string' ? (definitions[reference.replace('#/$defs/', '')] as Json) : schema;
}

function valueOf(name: string, given: Json, definitions: Json): unknown {
  const schema = withExample(name, resolve(given, definitions));
  if (Array.isArray(schema['anyOf'])) return valueOf(name, (schema['anyOf'] as Json[])[0] ?? {}, definitions);
  if (schema['type'] === 'object') {
    const properties = Object.entries(schema['properties'] as Readonly<Record<string, Json>>);
    return Object.fromEntries(properties.map(([key, field]) => [key, valueOf(key, field, definitions)]));
  }
  if (schema['type'] === 'array') return [valueOf(name, schema['items'] as Json, definitions)];
  const examples = schema['examples'];
  const values = schema['enum'];
  if (Array.isArray(examples)) return examples[0];
  if (schema['const'] !== undefined) return schema['const'];
  if (Array.isArray(values)) return values[0];
  if (schema['type'] === 'boolean') return true;
  return FORMATS[String(schema['format'])] ?? (schema['type'] === 'string' ? 'texto' : 1);
}
