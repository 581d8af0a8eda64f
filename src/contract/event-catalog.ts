/** The database's event table (`event_types`): payloads as JSON Schema, fields in order. A change only adds (catalog-change.ts). */
import { z } from 'zod';
import { API_FAMILIES } from './delivery.ts';
import { EVENTS } from './events.ts';
import { MONTH } from './values.ts';

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
   * For each key the rule for its text: a name that `has_format` (drizzle/functions) knows, or a regex from `^`. Null: any text.
   */
  readonly formats: readonly (string | null)[];
  /** The keys that may be absent. */
  readonly optional: readonly string[];
  /** How many of the first keys a payload has at least: no key after them is required. */
  readonly least: number;
}

export type Json = Readonly<Record<string, unknown>>;

interface NumberSchema {
  readonly type?: string | readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly multipleOf?: number;
}

export interface Field {
  /** Its name; of a field within an object `novo_empregador.cnpj`. */
  readonly key: string;
  readonly schema: Json;
  readonly kinds: readonly string[];
  readonly format: string | null;
  readonly isOptional: boolean;
}

/** The key that names the loan whose stream the event belongs to. */
const LOAN_KEY = 'emprestimo_id';

const FAMILIES = { emitted: API_FAMILIES, internal: API_FAMILIES.slice(0, 1), notice: [] } as const;

/** One entry for each name of the event table, in its order. */
export function eventCatalog(): CatalogEntry[] {
  return Object.entries(EVENTS).map(([name, event]) =>
    event.kind === 'reserved'
      ? entryOf(name, event.kind, [], null)
      : entryOf(name, event.kind, FAMILIES[event.kind], event.data),
  );
}

export function entryOf(
  name: string,
  kind: CatalogEntry['kind'],
  families: readonly string[],
  data: z.ZodType | null,
): CatalogEntry {
  const payload = data === null ? null : (z.toJSONSchema(data, { unrepresentable: 'any' }) as Json);
  const fields = payload === null ? [] : fieldsOf(payload);
  return {
    name,
    kind,
    families,
    payload,
    keys: fields.map(({ key }) => key),
    kinds: fields.map(({ kinds }) => kinds.join(',')),
    formats: fields.map(({ format }) => format),
    optional: fields.filter(({ isOptional }) => isOptional).map(({ key }) => key),
    least: fields.findLastIndex(({ isOptional }) => !isOptional) + 1,
  };
}

/** The fields of an object's JSON Schema, each before those within it. */
export function fieldsOf(object: Json, definitions = (object['$defs'] ?? {}) as Json, prefix = ''): Field[] {
  const fields: Field[] = [];
  const required = new Set(object['required'] as readonly string[] | undefined);
  for (const [name, given] of Object.entries(object['properties'] as Json)) {
    const key = `${prefix}${name}`;
    const schema = resolve(given as Json, definitions);
    const kinds = kindsOf(schema);
    const format = key === LOAN_KEY ? 'stream' : formatOf(schema);
    fields.push({ key, schema, kinds, format, isOptional: !required.has(name) });
    const inside = [schema, ...((schema['anyOf'] ?? []) as Json[])].map((one) => resolve(one, definitions));
    for (const one of inside) if ('properties' in one) fields.push(...fieldsOf(one, definitions, `${key}.`));
  }
  return fields;
}

/** The schema that `$ref` names, with what stands beside it; or the schema itself. */
function resolve(schema: Json, definitions: Json): Json {
  const reference = schema['$ref'];
  if (typeof reference !== 'string') return schema;
  return { ...(definitions[reference.replace('#/$defs/', '')] as Json), ...schema };
}

/** What `json_typeof` may answer. */
function kindsOf(schema: Json): string[] {
  if (Array.isArray(schema['anyOf'])) return (schema['anyOf'] as Json[]).flatMap(kindsOf);
  return [schema['type']].flat().map((type) => (type === 'integer' ? 'number' : String(type)));
}

const TYPES: Readonly<Record<string, string>> = {
  uuid: 'uuid',
  date: 'date',
  'date-time': 'timestamptz',
  cpf: 'cpf',
  cnpj: 'cnpj',
};

/** JSON's null has no text, so no rule for text refuses it. */
function formatOf(schema: Json): string | null {
  if (Array.isArray(schema['anyOf'])) return (schema['anyOf'] as Json[]).map(formatOf).find(Boolean) ?? null;
  const type = TYPES[String(schema['format'])];
  if (type !== undefined) return type;
  const values = schema['enum'] ?? (schema['const'] === undefined ? undefined : [schema['const']]);
  if (Array.isArray(values)) return `^(${values.join('|')})$`;
  // A name or description. Its own pattern is in JavaScript's dialect.
  if (schema['minLength'] !== undefined) return `text ${String(schema['maxLength'])}`;
  if (schema['pattern'] === MONTH.source) return 'month';
  if (typeof schema['pattern'] === 'string') return schema['pattern'].replaceAll(String.raw`\d`, '[0-9]');
  return numberFormatOf(schema);
}

function numberFormatOf({ type, minimum, maximum, exclusiveMinimum, multipleOf }: NumberSchema): string | null {
  if (type === 'integer' && minimum !== undefined && maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER) {
    return `whole ${minimum} to ${maximum}`;
  }
  if (type === 'integer') return minimum === 0 ? '^[0-9]{1,15}$' : '^-?[0-9]{1,15}$';
  if (multipleOf === 0.01) return exclusiveMinimum === 0 ? 'money > 0' : minimum === 0 ? 'money >= 0' : 'money';
  return [type].flat().includes('number') ? 'number' : null;
}
