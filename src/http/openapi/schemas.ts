/** zod → JSON Schema as OpenAPI 3.1 has it. A schema with an `id` in its meta becomes a component; others are written in place. */
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { date, id, timestamp } from '../../contract/values.ts';
import { withExample } from './examples.ts';

export type Json = Readonly<Record<string, unknown>>;

export type Schemas = ReturnType<typeof createSchemas>;

type Made = Json & { readonly $defs?: Json; readonly $ref?: string };

const COMPONENTS = '#/components/schemas/';

/** The patterns by which zod checks the formats that the interface uses. */
const OF_FORMATS = new Set([id, timestamp, date, z.base64()].map((schema) => z.toJSONSchema(schema).pattern));

export function createSchemas() {
  const components = new Map<string, unknown>();
  const made = (schema: z.ZodType, io: 'input' | 'output') =>
    finished(z.toJSONSchema(schema, { io, unrepresentable: 'any', override: tidy })) as Made;
  return {
    /** What a client sends (`input`) or gets (`output`). */
    of(schema: z.ZodType, direction: 'input' | 'output'): Json {
      const { $schema: _, $defs = {}, ...inPlace } = made(schema, direction);
      for (const [name, component] of Object.entries($defs)) {
        if (components.has(name) && !isDeepStrictEqual(components.get(name), component)) {
          throw new Error(`two schemas are called ${name}: give each an id of its own`);
        }
        components.set(name, component);
      }
      return inPlace;
    },
    /** A schema for receivers: a component that allows later fields at every level. Its parts are written in place. */
    open(schema: z.ZodType): Json {
      const { $defs = {}, $ref = '' } = made(schema, 'output');
      components.set($ref.replace(COMPONENTS, ''), opened($defs[$ref.replace(COMPONENTS, '')], $defs));
      return { $ref };
    },
    /** Every component met so far, by name. */
    components: (): Json =>
      Object.fromEntries(withOwnConstants([...components].toSorted(([a], [b]) => (a < b ? -1 : 1)))),
  };
}

/** A Go client has one package of constants named by enum values alone; where two components share a value, they name theirs. */
function withOwnConstants(components: readonly (readonly [string, unknown])[]): [string, unknown][] {
  const taken = new Set<string>();
  return components.map(([name, component]) => {
    const { enum: values = [] } = component as { readonly enum?: readonly string[] };
    const isDeclared = values.some((value) => taken.has(value));
    for (const value of values) taken.add(value);
    const prefix = name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '_');
    const names = values.map((value) => `${prefix}_${value.replaceAll('.', '_')}`.toUpperCase());
    return [name, isDeclared ? { ...(component as Json), 'x-enum-varnames': names } : component];
  });
}

/** A schema with its references written out and without `additionalProperties: false`. */
function opened(value: unknown, $defs: Json): unknown {
  return JSON.parse(JSON.stringify(value), (key, part: unknown) => {
    if (typeof part !== 'object' || part === null)
      return key === 'additionalProperties' && part === false ? undefined : part;
    const { $ref, ...rest } = part as { readonly $ref?: string };
    return $ref === undefined
      ? part
      : Object.assign(opened($defs[$ref.replace(COMPONENTS, '')], $defs) as object, rest);
  });
}

/** Leaves out repetitions, and what C# clients do not compile with: a pattern of an instant, a constant that is no string. */
function tidy({ jsonSchema }: { readonly jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (OF_FORMATS.has(jsonSchema.pattern) || jsonSchema.type === 'integer') delete jsonSchema.pattern;
  if (jsonSchema.format === 'date-time') delete jsonSchema.pattern;
  if (jsonSchema.type === 'boolean') delete jsonSchema.const;
  if (jsonSchema.exclusiveMinimum === jsonSchema.minimum) delete jsonSchema.minimum;
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
}

/** Components are pointed at where OpenAPI keeps them, and fields have their examples. */
function finished(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (key, part: unknown) => {
    if (key === '$ref' && typeof part === 'string') return part.replace('#/$defs/', COMPONENTS);
    if (key !== 'properties') return part;
    return Object.fromEntries(
      Object.entries(part as Json).map(([name, schema]) => [name, withExample(name, schema as Json)]),
    );
  });
}
