/**
 * The event table as the database keeps it (`event_types`), so that `append_event` refuses what the catalog does not have:
 * each type with its payload as JSON Schema, and the payload's fields in order as the append checks them.
 */
import { z } from 'zod';
import { API_FAMILIES } from './delivery.ts';
import { EVENTS } from './events.ts';

export interface CatalogEntry {
  readonly name: string;
  readonly kind: 'emitted' | 'internal' | 'reserved';
  /** The API families it may be appended for; internal facts are the back-office's own. */
  readonly families: readonly string[];
  /** JSON Schema, draft 2020-12; null for a reserved name. */
  readonly payload: Json | null;
  /** The payload's fields in catalog order, those of an object behind it as `novo_empregador.cnpj`. */
  readonly keys: readonly string[];
  /** For each key the JSON types it may have, separated by commas: `number,null`. */
  readonly kinds: readonly string[];
  /**
   * For each key what its value must be as text: a type of PostgreSQL whose text it is (`uuid`, `date`, `timestamptz`), or
   * a regular expression, which begins with `^`; null: anything.
   */
  readonly formats: readonly (string | null)[];
}

type Json = Readonly<Record<string, unknown>>;

interface Field {
  readonly key: string;
  readonly kinds: readonly string[];
  readonly format: string | null;
}

/** Longest text that PostgreSQL's regular expressions can count. */
const MAX_COUNT = 255;
const REAIS = '^-?[0-9]{1,10}([.][0-9]{1,2})?$';

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
      families: event.kind === 'emitted' ? API_FAMILIES : API_FAMILIES.slice(0, 1),
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

/** The types' names: their input functions take 1 µs, a regular expression of that length 15. */
const TYPES: Readonly<Record<string, string>> = { uuid: 'uuid', date: 'date', 'date-time': 'timestamptz' };

/** JSON's null has no text, so that no format refuses it. */
function formatOf(schema: Json): string | null {
  if (Array.isArray(schema['anyOf'])) return (schema['anyOf'] as Json[]).map(formatOf).find(Boolean) ?? null;
  const type = TYPES[String(schema['format'])];
  if (type !== undefined) return type;
  const values = schema['enum'] ?? (schema['const'] === undefined ? undefined : [schema['const']]);
  if (Array.isArray(values)) return `^(${values.join('|')})$`;
  // A name or description; its own pattern is JavaScript's.
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
