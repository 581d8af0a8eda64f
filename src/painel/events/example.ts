/** What a receiver gets for an event, and of what fields its data is made. Pure. */
import type { SubscribableName } from '../../contract/events.ts';
import { exampleData, FORMATS, ID_EXAMPLE, type Json, resolve, schemaOf } from '../../http/openapi/event-example.ts';

/** An envelope as it is sent, with invented values that fit the schema. */
export function exampleOf(name: SubscribableName): Json {
  return { evento: name, timestamp: FORMATS['date-time'], parceiro_id: ID_EXAMPLE, data: exampleData(name) };
}

export interface Field {
  readonly name: string;
  readonly type: string;
  readonly rule: string;
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
    const field = { name: `${prefix}${key}`, type, rule: ruleOf(choices[0] ?? {}) };
    const inner = schema['type'] === 'object' ? listed(schema, definitions, `${prefix}${key}.`) : [];
    return [field].concat(inner);
  });
}

function ruleOf(schema: Json): string {
  if (schema['const'] !== undefined) return JSON.stringify(schema['const']);
  if (Array.isArray(schema['enum'])) return (schema['enum'] as unknown[]).join(' | ');
  const { format } = schema;
  return typeof format === 'string' ? format : '';
}
