/**
 * zod → JSON Schema as OpenAPI 3.1 has it. A schema with an `id` in its meta becomes a component, written once and
 * referred to wherever it occurs; every other one is written in place.
 */
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { withExample } from './examples.ts';

export type Json = Readonly<Record<string, unknown>>;

export interface Schemas {
  /** What a client sends (`input`) or gets (`output`). */
  of(schema: z.ZodType, direction: 'input' | 'output'): Json;
  /** Every component met so far, by name. */
  components(): Json;
}

const COMPONENTS = '#/components/schemas/';

export function createSchemas(): Schemas {
  const components = new Map<string, unknown>();
  return {
    of(schema, direction) {
      const made = z.toJSONSchema(schema, { io: direction, unrepresentable: 'any', override: tidy });
      const { $schema: _, $defs = {}, ...inPlace } = finished(made) as Record<string, unknown>;
      for (const [name, component] of Object.entries($defs as Json)) {
        if (components.has(name) && !isDeepStrictEqual(components.get(name), component)) {
          throw new Error(`two schemas are called ${name}: give each an id of its own`);
        }
        components.set(name, component);
      }
      return inPlace;
    },
    components: () => Object.fromEntries([...components].toSorted(([a], [b]) => (a < b ? -1 : 1))),
  };
}

/** Leaves out what says the same twice: a format's own pattern, a bound below a stricter one, the range of JavaScript. */
function tidy({ jsonSchema }: { readonly jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (jsonSchema.format !== undefined || jsonSchema.type === 'integer') delete jsonSchema.pattern;
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
