/** The fields of a JSON Schema of the description, one a row. Pure. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly format?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
}

export type Schemas = Readonly<Record<string, Schema>>;

export interface Row {
  /** `itens[].id`: one inside of another. */
  readonly name: string;
  readonly type: string;
  readonly isRequired: boolean;
  /** Closed values, format and bounds, in the words of JSON Schema. */
  readonly rule: string;
  readonly description: string;
}

const COMPONENTS = '#/components/schemas/';
/** Deeper than any body; a schema that holds itself would not end. */
const MAX_DEPTH = 6;

function resolve(schema: Schema, schemas: Schemas): Schema {
  if (schema.$ref === undefined) return schema;
  return { ...resolve(schemas[schema.$ref.replace(COMPONENTS, '')] ?? {}, schemas), ...described(schema) };
}

function described({ description }: Schema): Schema {
  return description === undefined ? {} : { description };
}

/** The rows of an object, of a list of objects, or of what one of several objects may hold. */
export function rowsOf(given: Schema, schemas: Schemas, prefix = '', depth = 0): Row[] {
  if (depth > MAX_DEPTH) return [];
  const choices = choicesOf(given, schemas);
  const rows = choices.flatMap((schema) => {
    if (schema.items !== undefined) return rowsOf(schema.items, schemas, `${prefix}[]`, depth + 1);
    return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
      const path = prefix === '' ? name : `${prefix}.${name}`;
      const row = rowOf(path, field, schema.required?.includes(name) === true, schemas);
      return [row].concat(rowsOf(field, schemas, path, depth + 1));
    });
  });
  return rows.filter(({ name }, index) => rows.findIndex((row) => row.name === name) === index);
}

/** The row of one parameter, or of one field. */
export function rowOf(name: string, field: Schema, isRequired: boolean, schemas: Schemas): Row {
  const choices = choicesOf(field, schemas);
  const rule = [...new Set(choices.map((choice) => ruleOf(choice, schemas)).filter((text) => text !== ''))].join(' | ');
  const type = [...new Set(choices.flatMap((choice) => typeOf(choice, schemas)))].join(' | ');
  const description =
    field.description ?? choices.map((choice) => choice.description ?? '').find((text) => text !== '');
  return { name, type, isRequired, rule, description: description ?? '' };
}

/** The alternatives of a schema, itself when there is one alone. */
function choicesOf(given: Schema, schemas: Schemas): Schema[] {
  const schema = resolve(given, schemas);
  const choices = schema.anyOf ?? schema.oneOf;
  return choices === undefined ? [schema] : choices.flatMap((choice) => choicesOf(choice, schemas));
}

function typeOf({ type, items, const: only }: Schema, schemas: Schemas): string[] {
  if (items !== undefined) return [`array<${typeOf(resolve(items, schemas), schemas).join(' | ')}>`];
  if (type === undefined) return only === undefined ? [] : [typeof only];
  return [type].flat();
}

function ruleOf(schema: Schema, schemas: Schemas): string {
  const { const: only, enum: values, format, minimum, maximum, maxLength, maxItems, items, default: given } = schema;
  const inner = items === undefined ? '' : ruleOf(resolve(items, schemas), schemas);
  const rules = [
    only === undefined ? '' : JSON.stringify(only),
    values === undefined ? '' : values.join(' | '),
    format ?? '',
    rangeOf(minimum, maximum),
    maxLength === undefined ? '' : `maxLength ${maxLength}`,
    maxItems === undefined ? '' : `maxItems ${maxItems}`,
    given === undefined ? '' : `default ${JSON.stringify(given)}`,
    inner,
  ];
  return rules.filter((rule) => rule !== '').join('; ');
}

function rangeOf(minimum: number | undefined, maximum: number | undefined): string {
  // The whole range of safe integers says nothing.
  const [low, high] = [minimum, maximum].map((bound) => (Math.abs(bound ?? 0) > 1e15 ? undefined : bound));
  if (low === undefined && high === undefined) return '';
  return `${low ?? ''}…${high ?? ''}`;
}
