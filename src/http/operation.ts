/**
 * One operation of the interface, and the one order in which every operation refuses: 401 for the token itself, 429, 401 and
 * 403 for whom it names, then 415, 413 and 400 for what was sent, then 404 and 409 for what it is about. (404 and 405 for the
 * route itself come before: app.ts.) Whom a token names the database says, so a request is counted before it is asked.
 * An operation with a large body looks first whether what it is about exists, and answers 404 before it reads; then the
 * body waits for its turn, unless its headers alone are refused.
 */
import type { Context } from 'hono';
import { z } from 'zod';
import type { ErrorCode, ErrorDetail } from '../contract/errors.ts';
import { type Scope, SCOPES_WITHOUT_PARTNER } from '../contract/statuses.ts';
import { id } from '../contract/values.ts';
import { notFound } from './api-error.ts';
import { type Admit, type Authenticate, requireNoPartner, requirePartner, requireScope } from './auth.ts';
import type { Pace } from './body-stream.ts';
import { expectJson, expectNoBody, MAX_BODY_BYTES, mayBeLarge, readJson, readJsonIfAny } from './body.ts';
import type { Env } from './deps.ts';
import type { TakeTurn } from './large-bodies.ts';
import type { CountRequest } from './rate-limit.ts';
import { check, invalid } from './validation.ts';

/** One answer of an operation as its description tells it; openapi/operations.ts makes OpenAPI of it. */
export interface AnswerDescription {
  readonly description: string;
  /** Absent: the answer has no JSON body. */
  readonly schema?: z.ZodType;
  /** Media types of an answer that is text and not JSON, such as `text/csv`. */
  readonly textTypes?: readonly string[];
  /** What each header that only this answer has says; it always has them. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The same for headers that not every answer of this status has, such as those of a text type. */
  readonly optionalHeaders?: Readonly<Record<string, string>>;
}

export interface Operation<B extends z.ZodType = z.ZodType, Q extends z.ZodType = z.ZodType> {
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** With parameters in braces, of which `{id}` is an id: `/v1/emprestimos/{id}`. */
  readonly path: string;
  /** The parameters of the path beside `{id}`; a value that its schema refuses is an unknown path, 404. */
  readonly params?: Readonly<Record<string, z.ZodType>>;
  /** Asked before the body is read: whether the partner has what `{id}` names. For operations with a large body. */
  readonly exists?: (partnerId: string, id: string) => Promise<boolean>;
  readonly summary: string;
  /** What the summary leaves out, for the page at /docs. */
  readonly description?: string;
  readonly scope: Scope;
  /** Absent: the operation has no body. */
  readonly body?: B;
  /** What is told of a body whose either/or its refinements alone know: the same bodies, as a choice. */
  readonly bodyDescribed?: z.ZodType;
  /** True when the body may be left out, which is the same as `{}`. */
  readonly isBodyOptional?: boolean;
  /** For a body whose fields' own examples make none that would be accepted. */
  readonly bodyExample?: z.input<B>;
  /** 64 KiB unless an operation says more. */
  readonly maxBodyBytes?: number;
  readonly query?: Q;
  /** `Idempotency-Key`: required, honoured if sent, or not looked at (absent). */
  readonly idempotencyKey?: 'required' | 'optional';
  /** Answers by status. */
  readonly answers: Readonly<Record<number, AnswerDescription>>;
  /** Refusals beside those that every operation shares. */
  readonly errors?: readonly ErrorCode[];
}

/** A request that passed every check of its operation. */
interface Call<B, Q> {
  /** Empty for an operation of an auditor or of the loan core. */
  readonly partnerId: string;
  /** True for an auditor who was granted to see CPFs (`auditoria:cpf`). */
  readonly seesCpf: boolean;
  /** `sub` of the token. */
  readonly actor: string;
  readonly requestId: string;
  /** The `{id}` of the path; empty where the path has none. */
  readonly id: string;
  readonly body: B;
  readonly query: Q;
  readonly idempotencyKey: string | null;
}

export type Respond<B extends z.ZodType, Q extends z.ZodType> = (
  call: Call<z.output<B>, z.output<Q>>,
  c: Context<Env>,
) => Promise<Response>;

/** Adds one operation of the interface to the app and to its OpenAPI document. */
export type AddOperation = <B extends z.ZodType, Q extends z.ZodType>(
  operation: Operation<B, Q>,
  respond: Respond<B, Q>,
) => void;

export interface Gate {
  readonly authenticate: Authenticate;
  readonly countRequest: CountRequest;
  readonly admit: Admit;
  readonly takeTurn: TakeTurn;
  readonly largeBodyPace: Pace;
}

export const idempotencyKey = z.string().regex(/^[\x21-\x7e]{1,255}$/, 'deve ter de 1 a 255 caracteres ASCII visíveis');

/** Wraps `respond` in the checks of `operation`. */
export function guarded<B extends z.ZodType, Q extends z.ZodType>(
  operation: Operation<B, Q>,
  gate: Gate,
  respond: Respond<B, Q>,
): (c: Context<Env>) => Promise<Response> {
  return async (c) => {
    c.set('route', operation.path);
    const identity = await gate.authenticate(c.req.header('Authorization'));
    c.set('partnerId', identity.partnerId);
    await gate.countRequest(identity);
    await gate.admit(identity);
    requireScope(identity, operation.scope);
    const hasPartner = !SCOPES_WITHOUT_PARTNER.includes(operation.scope);
    const partnerId = hasPartner ? requirePartner(identity) : requireNoPartner(identity);
    await requireSubject(operation, partnerId, c);
    const serve = async (pace: Pace | null) => {
      const sent = await readSent(operation, c, pace);
      const pathId = readPathId(c);
      const seesCpf = operation.scope === 'auditoria:read' && identity.scopes.has('auditoria:cpf' satisfies Scope);
      const asker = { partnerId, seesCpf, actor: identity.actor };
      return respond({ ...asker, requestId: c.var.requestId, id: pathId, ...sent }, c);
    };
    const { maxBodyBytes = MAX_BODY_BYTES } = operation;
    if (maxBodyBytes <= MAX_BODY_BYTES || !mayBeLarge(c.req)) return serve(null);
    expectJson(c.req, maxBodyBytes);
    return gate.takeTurn(partnerId, () => serve(gate.largeBodyPace));
  };
}

async function requireSubject<B extends z.ZodType, Q extends z.ZodType>(
  { params = {}, exists }: Operation<B, Q>,
  partnerId: string,
  c: Context<Env>,
): Promise<void> {
  const isKnown = Object.entries(params).every(([name, schema]) => schema.safeParse(c.req.param(name)).success);
  if (!isKnown || (exists && !(await exists(partnerId, readPathId(c))))) throw notFound();
}

async function readSent<B extends z.ZodType, Q extends z.ZodType>(
  operation: Operation<B, Q>,
  c: Context<Env>,
  pace: Pace | null,
) {
  const details: ErrorDetail[] = [];
  const keep = <T>(checked: { readonly data: T } | { readonly details: readonly ErrorDetail[] }): T => {
    if ('data' in checked) return checked.data;
    details.push(...checked.details);
    return undefined as T;
  };

  let body = undefined as z.output<B>;
  if (operation.body) {
    const { maxBodyBytes = MAX_BODY_BYTES, isBodyOptional = false } = operation;
    const value = isBodyOptional ? await readJsonIfAny(c.req) : await readJson(c.req, maxBodyBytes, pace);
    body = keep(check(operation.body, value, 'corpo'));
  } else if (operation.method !== 'get') {
    await expectNoBody(c.req);
  }

  const query = (operation.query ? keep(check(operation.query, readQuery(c), 'consulta')) : undefined) as z.output<Q>;

  const key = operation.idempotencyKey ? c.req.header('Idempotency-Key') : undefined;
  if (key !== undefined || operation.idempotencyKey === 'required') {
    keep(check(idempotencyKey, key, 'Idempotency-Key'));
  }
  if (details.length > 0) throw invalid(details);
  return { body, query, idempotencyKey: key ?? null };
}

/** A parameter given twice becomes an array, which no schema takes. */
function readQuery(c: Context<Env>): Record<string, string | string[]> {
  return Object.fromEntries(
    Object.entries(c.req.queries()).map(([name, values]) => [
      name,
      values.length === 1 ? (values[0] as string) : values,
    ]),
  );
}

function readPathId(c: Context<Env>): string {
  const given = c.req.param('id');
  if (given === undefined) return '';
  const parsed = id.safeParse(given);
  if (!parsed.success) throw notFound();
  return parsed.data.toLowerCase();
}
