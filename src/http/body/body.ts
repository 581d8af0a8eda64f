/** Request bodies: JSON of a bounded size, whether or not the client announces the size. */
import type { HonoRequest } from 'hono';
import { ApiError } from '../api-error.ts';
import { type Pace, readStream, tooLarge, watch } from './body-stream.ts';
import { invalid } from '../validation.ts';

export const MAX_BODY_BYTES = 64 * 1024;

/** How a body that is no larger comes. */
export const SMALL_BODY_PACE: Pace = { graceMs: 15_000, bytesPerS: Infinity };

/** A large body is a few long texts: parsing 56 MiB of `{},{},…` took 7 s and 2 GB; five documents of 8 MiB take 0.1 s. */
const MAX_VALUES_OF_LARGE_BODY = 1_000;

/** Judges a JSON body by its headers alone. Throws 400 for none, 415 for another type, then 413. */
export function expectJson(request: HonoRequest, maxBytes: number): void {
  requireBody(request);
  requireJsonType(request);
  requireSize(request, maxBytes);
}

/** True unless the headers say that the body is no larger than most operations take. */
export function mayBeLarge(request: HonoRequest): boolean {
  return request.header('Transfer-Encoding') !== undefined || announcedBytes(request) > MAX_BODY_BYTES;
}

function requireSize(request: HonoRequest, maxBytes: number): void {
  if (announcedBytes(request) > maxBytes) throw tooLarge(maxBytes);
}

function announcedBytes(request: HonoRequest): number {
  return Number(request.header('Content-Length') ?? 0);
}

/** Reads a JSON body. Throws 400 for none, 415 for another type, 413, then 400 for what comes too slowly or is not JSON. */
export async function readJson(request: HonoRequest, maxBytes: number, pace: Pace): Promise<unknown> {
  requireBody(request);
  requireJsonType(request);
  const bytes = await readBytes(request, maxBytes, pace);
  if (bytes.length > MAX_BODY_BYTES && hasManyValues(bytes)) {
    throw new ApiError('ERRO_VALIDACAO', 'o corpo tem valores demais');
  }
  return parseJson(bytes);
}

/** Counts, without parsing, the characters that open or separate values. */
function hasManyValues(bytes: Buffer): boolean {
  let count = 0;
  for (const mark of ['[', '{', ',']) {
    for (let at = bytes.indexOf(mark); at !== -1; at = bytes.indexOf(mark, at + 1)) {
      count += 1;
      if (count > MAX_VALUES_OF_LARGE_BODY) return true;
    }
  }
  return false;
}

/** As {@link readJson}, of a body that may be left out: the same as `{}`, or the `null` of a generated Go client. */
export async function readJsonIfAny(request: HonoRequest, pace: Pace): Promise<unknown> {
  const announced = request.header('Transfer-Encoding') ?? request.header('Content-Length') ?? '0';
  if (announced === '0') return {};
  if (request.header('Content-Type') !== undefined) requireJsonType(request);
  const bytes = await readBytes(request, MAX_BODY_BYTES, pace);
  if (bytes.length === 0) return {};
  requireJsonType(request);
  return parseJson(bytes) ?? {};
}

/** For a route without a body: nothing may come, or an empty JSON object, which many clients send unasked. */
export async function expectNoBody(request: HonoRequest, pace: Pace): Promise<void> {
  const value = await readJsonIfAny(request, pace);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalid([{ campo: 'corpo', mensagem: 'esta operação não tem corpo' }]);
  }
  const fields = Object.keys(value);
  if (fields.length > 0) throw invalid(fields.map((campo) => ({ campo, mensagem: 'campo desconhecido' })));
}

/** 400 for a request whose headers tell neither a type nor that anything comes. */
function requireBody(request: HonoRequest): void {
  const isDeclared = ['Content-Type', 'Transfer-Encoding'].some((name) => request.header(name) !== undefined);
  if (isDeclared || announcedBytes(request) > 0) return;
  throw new ApiError('ERRO_VALIDACAO', 'falta o corpo da requisição, que deve ser um JSON');
}

function requireJsonType(request: HonoRequest): void {
  const [type = '', ...parameters] = (request.header('Content-Type') ?? '')
    .toLowerCase()
    .split(';')
    .map((part) => part.trim());
  const charsets = parameters.flatMap((one) => /^charset="?([^"]*)"?$/.exec(one)?.[1] ?? []);
  const encoding = request.header('Content-Encoding')?.trim().toLowerCase() ?? 'identity';
  const isUtf8 = charsets.every((charset) => charset === 'utf-8' || charset === 'utf8');
  if (type === 'application/json' && encoding === 'identity' && isUtf8) return;
  throw new ApiError('TIPO_NAO_SUPORTADO', 'o corpo deve ser application/json em UTF-8, sem compressão');
}

/** All bytes of a body. Throws 413, or 400 when it falls behind its pace or breaks off. */
export async function readBytes(
  request: HonoRequest,
  maxBytes = MAX_BODY_BYTES,
  pace = SMALL_BODY_PACE,
): Promise<Buffer> {
  requireSize(request, maxBytes);
  try {
    if (!mayBeLarge(request) && request.header('Content-Length') !== undefined) {
      const { promise: slow, stop } = watch(pace, () => 0);
      // The raw request's, because hono's own would keep the bytes for as long as the request lasts.
      const bytes = Buffer.from(await Promise.race([request.raw.arrayBuffer(), slow]).finally(stop));
      if (bytes.length > maxBytes) throw tooLarge(maxBytes);
      return bytes;
    }
    return await readStream(request.raw.body, maxBytes, pace);
  } catch (error) {
    if (error instanceof ApiError) throw error;
    throw new ApiError('ERRO_VALIDACAO', 'o corpo da requisição chegou incompleto', { cause: error });
  }
}

/** Half of a surrogate pair as an escape. It is legal JSON, but no text, and the database cannot store it. */
const SURROGATE_ESCAPE = /\\u[dD][89a-fA-F]/;

/** A double holds every number of EXACT_DIGITS digits exactly. `LONG_NUMBER` finds texts that may have more. */
const EXACT_DIGITS = 15;
const LONG_NUMBER = /[\d.]{16}/;

function parseJson(bytes: Uint8Array): unknown {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return SURROGATE_ESCAPE.test(text) || LONG_NUMBER.test(text) ? JSON.parse(text, refuseUntrue) : JSON.parse(text);
  } catch {
    throw new ApiError('ERRO_VALIDACAO', 'o corpo não é um JSON válido em UTF-8');
  }
}

/** Refuses half a surrogate pair; a number that would be rounded becomes NaN, which no schema takes, so money is never rounded. */
function refuseUntrue(key: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (!key.isWellFormed() || (typeof value === 'string' && !value.isWellFormed())) throw new SyntaxError('broken text');
  return typeof value === 'number' && countDigits(context?.source ?? '') > EXACT_DIGITS ? Number.NaN : value;
}

/** Significant digits of a JSON number. */
function countDigits(source: string): number {
  const [mantissa = ''] = source.toLowerCase().split('e');
  let end = mantissa.length;
  if (mantissa.includes('.')) while (mantissa[end - 1] === '0') end -= 1;
  const digits = mantissa.slice(0, end);
  return digits.replace(/^-?[0.]*/, '').replace('.', '').length;
}
