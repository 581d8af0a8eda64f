/**
 * The types of a route's answer, derived from its operation: a status of `answers` with its body and headers, or a refusal whose
 * code is among `errors`. /openapi.json is made of the same object, so the compiler holds a route to its description.
 */
import { createHash } from 'node:crypto';
import type { Reading } from '../db/reports.ts';
import type { Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { z } from 'zod';
import type { ErrorCode } from '../contract/errors.ts';
import type { Bilingual } from '../contract/language.ts';
import type { KindWithCode, Refused } from '../contract/refusals.ts';
import { masked, maskedValue } from '../contract/masking/masking.ts';
import type { Env } from './request.ts';

/** One answer as its operation declares it; openapi/operations.ts makes OpenAPI of it. */
export interface AnswerDescription {
  readonly description: Bilingual;
  /** Absent: the answer has no JSON body. */
  readonly schema?: z.ZodType;
  /** Media types of an answer that is a file and not JSON, such as `text/csv`. */
  readonly fileTypes?: readonly string[];
  /** The headers that only this answer has, each with its meaning. The answer always has them. */
  readonly headers?: Readonly<Record<string, Bilingual>>;
  /** The same for headers that not every answer of this status has, such as those of a file. */
  readonly optionalHeaders?: Readonly<Record<string, Bilingual>>;
}

export type Answers = Readonly<Record<number, AnswerDescription>>;

/** The one answer of an operation that has no other: its status, the schema of its body, and what it is. */
export function answered<const N extends number, S extends z.ZodType>(status: N, schema: S, description: Bilingual) {
  return { [status]: { description, schema } } as {
    readonly [K in N]: { readonly description: Bilingual; readonly schema: S };
  };
}

/** A body that is sent while it is made, chunk by chunk. `type` is its media type, perhaps with parameters. */
export class BodyStream<M extends string = string> {
  readonly type: M | `${M};${string}`;
  readonly chunks: AsyncIterable<string | Uint8Array>;

  constructor(type: M | `${M};${string}`, chunks: AsyncIterable<string | Uint8Array>) {
    this.type = type;
    this.chunks = chunks;
  }
}

/** The pieces of the JSON of one `T`. */
export class JsonStream<T> extends BodyStream<'application/json'> {
  /** Never set: it makes the streams of two schemas different types. */
  readonly whole?: T;

  constructor(chunks: AsyncIterable<string>) {
    super('application/json', chunks);
  }
}

/** A value that may be shown: deeply readonly. */
type Shown<T> = T extends readonly (infer I)[]
  ? readonly Shown<I>[]
  : T extends object
    ? { readonly [K in keyof T]: Shown<T[K]> }
    : T;

type JsonOf<D> = D extends { readonly schema: infer S extends z.ZodType }
  ? Shown<z.output<S>> | JsonStream<z.output<S>>
  : never;
type FileOf<D> = D extends { readonly fileTypes: readonly (infer M extends string)[] } ? BodyStream<M> : never;
type BodyOf<D> = [JsonOf<D> | FileOf<D>] extends [never]
  ? { readonly body?: never }
  : { readonly body: JsonOf<D> | FileOf<D> };

type HeaderNames<D, P extends 'headers' | 'optionalHeaders'> = D extends { readonly [Q in P]: infer H }
  ? keyof H & string
  : never;
/** An answer without headers of its own has none; the shared ones are not the route's. */
type HeadersOf<D> = [HeaderNames<D, 'headers'> | HeaderNames<D, 'optionalHeaders'>] extends [never]
  ? { readonly headers?: never }
  : [HeaderNames<D, 'headers'>] extends [never]
    ? { readonly headers?: { readonly [N in HeaderNames<D, 'optionalHeaders'>]?: string } }
    : {
        readonly headers: { readonly [N in HeaderNames<D, 'headers'>]: string } & {
          readonly [N in HeaderNames<D, 'optionalHeaders'>]?: string;
        };
      };

type AnswerOf<A extends Answers> = {
  [S in keyof A & number]: { readonly status: S } & BodyOf<A[S]> & HeadersOf<A[S]>;
}[keyof A & number];

/** Codes that any operation may answer with, or that every operation with a body, a query or a key declares. */
type SharedCode = 'ERRO_VALIDACAO' | 'INDISPONIVEL';
type CodesOf<O> = O extends { readonly errors: readonly (infer C extends ErrorCode)[] } ? C | SharedCode : SharedCode;

/** A path that names something may name what is not there. */
type CodeOfPath<P extends string> = P extends `${string}{${string}` ? 'NAO_ENCONTRADO' : never;

/** What the route of an operation at the path `P` may answer. */
export type RouteAnswer<O extends { readonly answers: Answers }, P extends string> =
  | AnswerOf<O['answers']>
  | Refused<KindWithCode<CodesOf<O> | CodeOfPath<P>>>;

export interface AnyAnswer {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export function toResponse(c: Context<Env>, { status, body, headers = {} }: AnyAnswer): Response {
  if (body instanceof BodyStream) {
    return new Response(ReadableStream.from(bytesOf(body.chunks)), {
      status,
      headers: { 'Content-Type': body.type, ...headers },
    });
  }
  if (body === undefined) return c.body(null, status as ContentfulStatusCode, { ...headers });
  return c.json(body, status as ContentfulStatusCode, { ...headers });
}

/** What the answer tells of a worker is masked; of a file in each of its pieces, which are whole lines. */
export function maskedAnswer({ body, ...answer }: AnyAnswer): AnyAnswer {
  if (!(body instanceof BodyStream)) return { ...answer, body: maskedValue(body) };
  return { ...answer, body: new BodyStream(body.type, maskedPieces(body.chunks)) };
}

async function* maskedPieces(pieces: AsyncIterable<string | Uint8Array>): AsyncGenerator<string> {
  for await (const piece of pieces) yield masked(typeof piece === 'string' ? piece : Buffer.from(piece).toString());
}

async function* bytesOf(chunks: AsyncIterable<string | Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) yield typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
}

/** By how many seconds a report read on the standby lags behind; absent when read on the primary. */
export const LAG_HEADER = 'X-Carteiro-Atraso-S';

export function lagHeaders(reading: Reading | null): Readonly<Record<string, string>> {
  return reading?.lagS == null ? {} : { [LAG_HEADER]: String(reading.lagS) };
}

/** A resource that clients ask for often and that seldom changes. A client that sends its tag gets 304. */
export interface Tagged {
  /** No text: each answer would hold bytes of its own for as long as its client reads nothing. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly tag: string;
}

export function tagged(bytes: Tagged['bytes']): Tagged {
  return { bytes, tag: `"${createHash('sha256').update(bytes).digest('base64url')}"` };
}

export function answerTagged(c: Context, { bytes, tag }: Tagged, type: string, more: Record<string, string>): Response {
  const headers = { ETag: tag, ...more };
  if (c.req.header('If-None-Match') === tag) return c.body(null, 304, headers);
  return c.body(bytes, 200, { ...headers, 'Content-Type': type });
}
