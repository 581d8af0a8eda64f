/** What a receiver gets for an event, and of what fields its data is made. Pure. */
import { z } from 'zod';
import { EVENT_EXAMPLES } from '../../contract/event-examples.ts';
import type { Bilingual } from '../../contract/language.ts';
import { EVENTS, type SubscribableName } from '../../contract/events.ts';

type Json = Readonly<Record<string, unknown>>;

export function exampleOf(name: SubscribableName) {
  const parceiro_id = '019a6e0b-7f3c-7d52-9a41-5c1d2e3f4a5b';
  return { evento: name, timestamp: '2026-01-31T12:00:00.000Z', parceiro_id, data: EVENT_EXAMPLES[name] };
}

/** The JSON Schema of the event's data for a receiver: a later version may add keys at every level. */
export function schemaOf(name: SubscribableName): Json {
  return z.toJSONSchema(EVENTS[name].data, {
    unrepresentable: 'any',
    override: ({ jsonSchema }) => void delete jsonSchema.additionalProperties,
  });
}

export interface Field {
  readonly name: string;
  readonly type: string;
  readonly rule: string;
  readonly meaning: Bilingual;
}

/** Each field of an event's data, one inside of another as `novo_empregador.cnpj`. */
export function fieldsOf(name: SubscribableName): Field[] {
  const schema = schemaOf(name);
  return listed(schema, (schema['$defs'] ?? {}) as Json, '');
}

function listed(object: Json, definitions: Json, prefix: string): Field[] {
  return Object.entries(object['properties'] as Readonly<Record<string, Json>>).flatMap(([key, given]) => {
    const schema = resolve(given, definitions);
    const choices = Array.isArray(schema['anyOf']) ? (schema['anyOf'] as Json[]) : [schema];
    const type = choices.map((one) => [one['type']].flat().join(' | ')).join(' | ');
    const field = {
      name: `${prefix}${key}`,
      type,
      rule: ruleOf(choices[0] ?? {}),
      meaning: schema['text'] as Bilingual,
    };
    const inner = schema['type'] === 'object' ? listed(schema, definitions, `${prefix}${key}.`) : [];
    return [field].concat(inner);
  });
}

function ruleOf(schema: Json): string {
  if (schema['const'] !== undefined) return JSON.stringify(schema['const']);
  if (Array.isArray(schema['enum'])) return (schema['enum'] as unknown[]).join(', ');
  const { format } = schema;
  return typeof format === 'string' ? format : '';
}

/** The schema that `$ref` names, or the schema itself. */
function resolve(schema: Json, definitions: Json): Json {
  const reference = schema['$ref'];
  return typeof reference === 'string'
    ? { ...(definitions[reference.replace('#/$defs/', '')] as Json), ...schema }
    : schema;
}
