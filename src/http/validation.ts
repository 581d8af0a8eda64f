/** The issues of a schema as details: Portuguese, one per field. */
import type { z } from 'zod';
import type { ErrorDetail } from '../contract/errors.ts';
import { INVALID_FIELDS } from '../contract/refusals.ts';
import { ApiError } from './api-error.ts';

/** A body can hold thousands of faults; an answer names this many. */
const MAX_DETAILS = 100;
const MAX_FIELD_LENGTH = 200;

const MISSING = 'é obrigatório';
const EXPECTED: Readonly<Record<string, string>> = {
  string: 'deve ser um texto',
  number: 'deve ser um número',
  int: 'deve ser um número inteiro',
  boolean: 'deve ser verdadeiro ou falso',
  array: 'deve ser uma lista',
  object: 'deve ser um objeto',
};

/** Messages for the issues whose schema brings none of its own. */
function inPortuguese(issue: z.core.$ZodRawIssue): string {
  if (issue.input === undefined) return MISSING;
  if (isOfNoVariant(issue)) return MISSING;
  if (issue.code === 'invalid_type') return EXPECTED[issue.expected] ?? 'tem o tipo errado';
  if (issue.code === 'invalid_value') return `deve ser um destes valores: ${issue.values.join(', ')}`;
  if (issue.code === 'too_small') return `deve ser no mínimo ${issue.minimum}`;
  if (issue.code === 'too_big') return `deve ser no máximo ${issue.maximum}`;
  if (issue.code === 'invalid_format') return issue.format === 'uuid' ? 'deve ser um UUID' : 'tem o formato errado';
  return 'é inválido';
}

/** Of an object whose variant a field names, and which lacks that field. */
function isOfNoVariant({ code, input, discriminator }: z.core.$ZodRawIssue): boolean {
  const isNamed = code === 'invalid_union' && typeof discriminator === 'string';
  return isNamed && (input as Readonly<Record<string, unknown>>)[discriminator] === undefined;
}

export type Checked<T> = { readonly data: T } | { readonly details: readonly ErrorDetail[] };

/** Parses `value`; the details name each field as `eventos[1]`, `root` being the name of the whole. */
export function check<S extends z.ZodType>(schema: S, value: unknown, root: string): Checked<z.output<S>> {
  const parsed = schema.safeParse(value, { error: inPortuguese });
  if (parsed.success) return { data: parsed.data };
  const details = parsed.error.issues.flatMap((issue) => detailsOf(issue, root, value));
  // A text where a list belongs is also "too long" to zod; the first fault of a field is the one that explains it.
  return { details: [...Map.groupBy(details, ({ campo }) => campo).values()].map(([first]) => first as ErrorDetail) };
}

/** 400 with the first {@link MAX_DETAILS} details. */
export function invalid(details: readonly ErrorDetail[]): ApiError {
  return new ApiError('ERRO_VALIDACAO', INVALID_FIELDS, { details: details.slice(0, MAX_DETAILS) });
}

function detailsOf(issue: z.core.$ZodIssue, root: string, value: unknown): ErrorDetail[] {
  if (issue.code !== 'unrecognized_keys') {
    return [{ campo: fieldName(issue.path, root), mensagem: messageOf(issue, value) }];
  }
  return issue.keys.map((key) => ({ campo: fieldName([...issue.path, key], root), mensagem: 'campo desconhecido' }));
}

/** A schema's own message tells the rule of a field; where there is no field, that comes first. */
function messageOf({ code, path, message }: z.core.$ZodIssue, value: unknown): string {
  if (code !== 'invalid_type' || path.length === 0 || message === MISSING) return message;
  const given = path.reduce((from: unknown, part) => (from as Record<PropertyKey, unknown> | undefined)?.[part], value);
  return given === undefined ? `${MISSING}: ${message}` : message;
}

function fieldName(path: readonly PropertyKey[], root: string): string {
  const name = path.reduce<string>(
    (before, part) => (typeof part === 'number' ? `${before}[${part}]` : `${before && `${before}.`}${String(part)}`),
    '',
  );
  return (name || root).slice(0, MAX_FIELD_LENGTH).toWellFormed();
}
