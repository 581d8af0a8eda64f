/**
 * Values that fit a schema of the description, made from the schema alone, as a client's own test would. An unknown keyword
 * throws, because ignoring it would make values that only look valid.
 */
import * as fc from 'fast-check';
import type { ApiDescription, JsonSchema } from './description.ts';

const KNOWN = new Set(
  (
    '$ref type const enum items properties required additionalProperties propertyNames oneOf anyOf format pattern minLength maxLength ' +
    'minimum maximum exclusiveMinimum multipleOf minItems maxItems uniqueItems minProperties dependentRequired if then default description ' +
    'examples contentEncoding x-enum-varnames x-since'
  ).split(' '),
);

interface Schema extends JsonSchema {
  readonly format?: string;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly multipleOf?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly minProperties?: number;
  readonly dependentRequired?: Readonly<Record<string, readonly string[]>>;
  /** Of a map, whose values have one schema. */
  readonly propertyNames?: Schema;
  readonly additionalProperties?: boolean | Schema;
  readonly if?: { readonly properties: Readonly<Record<string, { const: unknown }>> };
  readonly then?: { readonly properties: Readonly<Record<string, { const: unknown }>> };
}

export function schemaArbitraries({ components }: ApiDescription): (schema: JsonSchema) => fc.Arbitrary<unknown> {
  function of(schema: Schema): fc.Arbitrary<unknown> {
    const unknown = Object.keys(schema).filter((key) => !KNOWN.has(key));
    if (unknown.length > 0) throw new Error(`no values are made for ${unknown.join(', ')}`);
    if (schema.$ref !== undefined) return of(component(schema.$ref));
    if (schema.const !== undefined) return fc.constant(schema.const);
    if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
    const choices = schema.oneOf ?? schema.anyOf;
    if (choices !== undefined) return fc.oneof(...choices.map(of));
    switch (String(schema.type)) {
      case 'string':
        return texts(schema);
      case 'null':
        return fc.constant(null);
      case 'boolean':
        return fc.boolean();
      case 'integer':
        return fc.integer({ min: schema.minimum ?? -(2 ** 53), max: schema.maximum ?? 2 ** 53 });
      case 'number':
        return hundredths(schema);
      case 'array':
        return arrays(schema);
      case 'object':
        return objects(schema);
      default:
        throw new Error(`no values are made for the type ${String(schema.type)}`);
    }
  }

  function component(reference: string): Schema {
    const found = components.schemas[reference.replace('#/components/schemas/', '')];
    if (found === undefined) throw new Error(`no component ${reference}`);
    return found;
  }

  function arrays({ items = {}, minItems = 0, maxItems = 8, uniqueItems = false }: Schema): fc.Arbitrary<unknown> {
    const bounds = { minLength: minItems, maxLength: maxItems };
    return uniqueItems ? fc.uniqueArray(of(items), bounds) : fc.array(of(items), bounds);
  }

  function objects({ properties = {}, required = [], minProperties = 0, ...rest }: Schema): fc.Arbitrary<unknown> {
    const { propertyNames, additionalProperties } = rest;
    if (propertyNames !== undefined && typeof additionalProperties === 'object') {
      return fc.dictionary(texts(propertyNames), of(additionalProperties), { maxKeys: 4 });
    }
    const fields = Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, of(schema)]));
    return fc
      .record(fields, { requiredKeys: [...required] })
      .filter((made) => Object.keys(made).length >= minProperties && keepsCondition(made, rest))
      .filter((made) =>
        Object.entries(rest.dependentRequired ?? {}).every(
          ([name, others]) => !Object.hasOwn(made, name) || others.every((other) => Object.hasOwn(made, other)),
        ),
      );
  }
  return of;
}

/** `if` and `then` as the description uses them: on constants of some fields. */
function keepsCondition(
  made: Readonly<Record<string, unknown>>,
  { if: condition, then: consequence }: Schema,
): boolean {
  if (condition === undefined || consequence === undefined) return true;
  const holds = ({ properties }: typeof condition) =>
    Object.entries(properties).every(([name, { const: value }]) => made[name] === value);
  return !holds(condition) || holds(consequence);
}

function texts(schema: Schema): fc.Arbitrary<string> {
  const { format, pattern, minLength = 0, maxLength } = schema;
  if (format === 'uuid') return hex([8, 4, 4, 4, 12]);
  if (format === 'date') {
    const days = fc.date({ noInvalidDate: true, ...YEARS }).map((at) => at.toISOString().slice(0, 10));
    return days.filter((day) => new RegExp(pattern ?? '').test(day));
  }
  if (format === 'cpf') return digitsThat(9, (base) => [...weigh(base, [10, 9, 8, 7, 6, 5, 4, 3, 2])]);
  if (format === 'cnpj') return digitsThat(12, (base) => [...weigh(base, [5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2])]);
  // The only field of this format in a request (`vale_em`) takes a time of the next day.
  if (format === 'date-time') {
    return fc.integer({ min: 60, max: 80_000 }).map((seconds) => new Date(Date.now() + seconds * 1_000).toISOString());
  }
  if (format !== undefined && format !== 'uri') throw new Error(`no texts are made for the format ${format}`);
  const made = pattern === undefined ? fc.string({ unit: 'binary' }) : fc.stringMatching(new RegExp(pattern, 'u'));
  return made.filter((text) => {
    const { length } = Array.from(text);
    return text.isWellFormed() && length >= minLength && (maxLength === undefined || length <= maxLength);
  });
}

const YEARS = { min: new Date('0001-01-01'), max: new Date('9999-12-31') };

function hex(lengths: readonly number[]): fc.Arbitrary<string> {
  const digit = fc.constantFrom(...'0123456789abcdefABCDEF'.split(''));
  const part = (length: number) => fc.string({ unit: digit, minLength: length, maxLength: length });
  return fc.tuple(...lengths.map(part)).map((parts) => parts.join('-'));
}

/** Digits followed by the two check digits of a Brazilian tax id. */
function digitsThat(length: number, checked: (base: number[]) => number[]): fc.Arbitrary<string> {
  return fc
    .array(fc.integer({ min: 0, max: 9 }), { minLength: length, maxLength: length })
    .filter((base) => new Set(base).size > 1)
    .map((base) => checked(base).join(''));
}

function weigh(base: number[], weights: readonly number[]): number[] {
  const check = (digits: number[], of: readonly number[]) => {
    const rest = digits.reduce((sum, digit, index) => sum + digit * (of[index] ?? 0), 0) % 11;
    return rest < 2 ? 0 : 11 - rest;
  };
  const first = check(base, weights);
  return [...base, first, check([...base, first], [(weights[0] ?? 0) + 1, ...weights])];
}

/** Numbers with two decimals, as `multipleOf: 0.01` says. */
function hundredths({ minimum = 0, maximum = 1e6, exclusiveMinimum, multipleOf }: Schema): fc.Arbitrary<number> {
  if (multipleOf !== 0.01) throw new Error('numbers are made of hundredths alone');
  const least = exclusiveMinimum === undefined ? minimum * 100 : exclusiveMinimum * 100 + 1;
  return fc.double({ min: least, max: maximum * 100, noNaN: true }).map((cents) => Math.round(cents) / 100);
}
