/**
 * The event table as the database keeps it (`event_types`), for `append_event` to check payloads against: each type with its
 * payload as JSON Schema, and the payload's fields in the catalog's order.
 */
import { z } from 'zod';
import { API_FAMILIES } from './delivery.ts';
import { EVENTS } from './events.ts';

export interface CatalogEntry {
  readonly name: string;
  readonly kind: 'emitted' | 'internal' | 'notice' | 'reserved';
  /** The API families for which the event may be appended; internal events are of the back office alone, notices of none. */
  readonly families: readonly string[];
  /** JSON Schema, draft 2020-12; null for a reserved name. */
  readonly payload: Json | null;
  /** The payload's fields in catalog order; an object's fields follow it, as `novo_empregador.cnpj`. */
  readonly keys: readonly string[];
  /** For each key the JSON types it may have, separated by commas: `number,null`. */
  readonly kinds: readonly string[];
  /**
   * For each key the rule for its value as text: a PostgreSQL type that must read it (`uuid`, `date`, `timestamptz`), or a
   * regular expression, which begins with `^`. Null allows any text.
   */
  readonly formats: readonly (string | null)[];
}

type Json = Readonly<Record<string, unknown>>;

interface Field {
  readonly key: string;
  readonly kinds: readonly string[];
  readonly format: string | null;
}

/** PostgreSQL's regular expressions cannot count further than this. */
const MAX_COUNT = 255;
const REAIS = '^-?[0-9]{1,10}([.][0-9]{1,2})?$';

const FAMILIES = { emitted: API_FAMILIES, internal: API_FAMILIES.slice(0, 1), notice: [] } as const;

/** One entry for each name of the event table, in its order. */
export function eventCatalog(): CatalogEntry[] {
  return Object.entries(EVENTS).map(([name, event]) => {
    if (event.kind === 'reserved') {
      return { name, kind: event.kind, families: [], payload: null, keys: [], kinds: [], formats: [] };
    }
    const payload = z.toJSONSchema(event.data, { unrepresentable: 'any' }) as Json;
    const fields = fieldsOf(payload, (payload['$defs'] ?? {}) as Json);
    return {
      name,
      kind: event.kind,
      families: FAMILIES[event.kind],
      payload,
      keys: fields.map(({ key }) => key),
      kinds: fields.map(({ kinds }) => kinds.join(',')),
      formats: fields.map(({ format }) => format),
    };
  });
}

function fieldsOf(object: Json, definitions: Json, prefix = ''): Field[] {
  const fields: Field[] = [];
  for (const [name, given] of Object.entries(object['properties'] as Json)) {
    const key = `${prefix}${name}`;
    const schema = resolve(given as Json, definitions);
    const kinds = kindsOf(schema);
    fields.push({ key, kinds, format: formatOf(schema) });
    if (kinds.includes('object')) fields.push(...fieldsOf(schema, definitions, `${key}.`));
  }
  return fields;
}

function resolve(schema: Json, definitions: Json): Json {
  const reference = schema['$ref'];
  return typeof reference === 'string' ? (definitions[reference.replace('#/$defs/', '')] as Json) : schema;
}

/** What `json_typeof` may answer. */
function kindsOf(schema: Json): string[] {
  if (Array.isArray(schema['anyOf'])) return (schema['anyOf'] as Json[]).flatMap(kindsOf);
  return [schema['type']].flat().map((type) => (type === 'integer' ? 'number' : String(type)));
}

/** PostgreSQL types instead of regular expressions: their input functions take 1 µs, the expression 15 µs. */
const TYPES: Readonly<Record<string, string>> = { uuid: 'uuid', date: 'date', 'date-time': 'timestamptz' };

/** JSON's null has no text, so no rule for text refuses it. */
function formatOf(schema: Json): string | null {
  if (Array.isArray(schema['anyOf'])) return (schema['anyOf'] as Json[]).map(formatOf).find(Boolean) ?? null;
  const type = TYPES[String(schema['format'])];
  if (type !== undefined) return type;
  const values = schema['enum'] ?? (schema['const'] === undefined ? undefined : [schema['const']]);
  if (Array.isArray(values)) return `^(${values.join('|')})$`;
  // A name or description. Its own pattern is in JavaScript's dialect.
  const { minLength, maxLength = MAX_COUNT } = schema as { minLength?: number; maxLength?: number };
  if (minLength !== undefined) return `^[^[:cntrl:]]{${minLength},${Math.min(maxLength, MAX_COUNT)}}$`;
  if (typeof schema['pattern'] === 'string') return schema['pattern'].replaceAll(String.raw`\d`, '[0-9]');
  const { minimum, maximum } = schema as { minimum?: number; maximum?: number };
  if (schema['type'] === 'integer' && minimum === 1 && maximum !== undefined && maximum < MAX_COUNT) {
    return `^(${Array.from({ length: maximum }, (_, index) => index + 1).join('|')})$`;
  }
  if (schema['type'] === 'integer') return schema['minimum'] === 0 ? '^[0-9]+$' : '^-?[0-9]+$';
  if (schema['multipleOf'] === 0.01) {
    return schema['minimum'] === 0 ? REAIS.replace('-?', '') : REAIS;
  }
  if (schema['minimum'] === 0) return '^[0-9]';
  return null;
}
