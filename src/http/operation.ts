/**
 * One operation of the interface. Every operation refuses in this order: 401 for the token, 429 (before any query), 401 and 403
 * for partner and scopes, 415, 413 and 400 for the request, 404 and 409 for the state. 404 and 405 for the route come earlier
 * (app.ts). An operation with a large body first checks that its subject exists (404 without reading the body); then the body
 * waits for its turn, unless its headers are refused.
 */
import { type CpfRead, eventsIn } from '../audit/cpf-reads.ts';
import type { Context, HonoRequest } from 'hono';
import { z } from 'zod';
import type { ErrorCode, ErrorDetail } from '../contract/errors.ts';
import type { Bilingual, Since } from '../contract/language.ts';
import type { Refused } from '../contract/refusals.ts';
import { type Scope, SCOPES_WITHOUT_PARTNER } from '../contract/statuses.ts';
import { id } from '../contract/values.ts';
import {
  type Answers,
  type AnyAnswer,
  BodyStream,
  JsonStream,
  lagHeaders,
  maskedAnswer,
  toResponse,
} from './answer.ts';
import { notFound, refusalError } from './api-error.ts';
import {
  type Admit,
  type Authenticate,
  type Identity,
  requireNoPartner,
  requirePartner,
  readsMasked,
  requireScope,
} from './auth/auth.ts';
import type { Pace } from './body/body-stream.ts';
import { expectJson, expectNoBody, MAX_BODY_BYTES, mayBeLarge, readJson, readJsonIfAny } from './body/body.ts';
import type { Env, Sent } from './request.ts';
import type { Pool } from '../db/pool.ts';
import type { Reports } from '../db/reports.ts';
import type { Acquire } from './body/large-bodies.ts';
import type { BeginRequest, CountRequest } from './auth/rate-limit.ts';
import { check, type Checked, invalid } from './validation.ts';

export interface Operation {
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** With parameters in braces; `{id}` is an id: `/v1/emprestimos/{id}`. */
  readonly path: string;
  /** The parameters of the path beside `{id}`; a value that its schema refuses is an unknown path, 404. */
  readonly params?: Readonly<Record<string, z.ZodType>>;
  /** Whether the partner (null: anybody) has the object that `{id}` names. Asked before a large body is read. */
  readonly exists?: (pool: Pool, partnerId: string | null, id: string) => Promise<boolean>;
  /** True for what partners write when loans are ours to write: elsewhere (`LOAN_CORE=outside`) there is no such route. */
  readonly ownCore?: true;
  /** True for a large read that may be some seconds old: it runs on the standby, where there is one. */
  readonly isReport?: true;
  /** True for evidence: masked as a text it would fit no more, so the route masks it itself. */
  readonly masksItself?: true;
  readonly summary: Bilingual;
  /** The version of the interface that brought it; absent: its first. */
  readonly since?: Since;
  /** What the summary leaves out. */
  readonly description?: Bilingual;
  /** No operation requires `auditoria:cpf`, which unmasks what `auditoria:read` shows, or `webhooks:mascarado`. */
  readonly scope: Exclude<Scope, 'auditoria:cpf' | 'webhooks:mascarado'>;
  /** Absent: the operation has no body. */
  readonly body?: z.ZodType;
  /** For a body whose either/or is in refinements, which OpenAPI cannot show: the same bodies as a choice. */
  readonly bodyDescribed?: z.ZodType;
  /** True when the body may be left out, which is the same as `{}`. */
  readonly isBodyOptional?: boolean;
  /** For a body whose fields' own examples make none that would be accepted. */
  readonly bodyExample?: unknown;
  /** 64 KiB unless an operation says more. */
  readonly maxBodyBytes?: number;
  readonly query?: z.ZodType;
  /** `Idempotency-Key`: required, honoured if sent, or not looked at (absent). */
  readonly idempotencyKey?: 'required' | 'optional';
  readonly answers: Answers;
  /** Refusals beside those that every operation shares; of one whose path names something, 404 is one of these. */
  readonly errors?: readonly ErrorCode[];
}

export interface Route {
  readonly operation: Operation;
  readonly respond: (call: never, deps: never, request: HonoRequest) => Promise<AnyAnswer | Refused>;
}

export type Caller =
  /** `isMasked`: may read in place of `webhooks:read` what tells of no worker (`webhooks:mascarado`). */
  | { readonly by: 'partner'; readonly partnerId: string; readonly isMasked: boolean }
  /** `seesCpf`: was granted to see CPFs (`auditoria:cpf`). */
  | { readonly by: 'auditor'; readonly seesCpf: boolean }
  | { readonly by: 'core' }
  | { readonly by: 'operator' };

export interface Gate {
  readonly authenticate: Authenticate;
  readonly countRequest: CountRequest;
  readonly begin: BeginRequest;
  readonly admit: Admit;
  /** Fails closed: what could not be logged is not answered. */
  readonly logCpfRead: (read: CpfRead) => Promise<void>;
  readonly acquire: Acquire;
  readonly pool: Pool;
  readonly reports: Reports;
  readonly bodyPace: Pace;
  readonly largeBodyPace: Pace;
}

export const idempotencyKey = z.string().regex(/^[\x21-\x7e]{1,255}$/, 'deve ter de 1 a 255 caracteres ASCII visíveis');

export function guarded(
  { operation, respond }: Route,
  gate: Gate,
  deps: object,
): (c: Context<Env>) => Promise<Response> {
  const work = async (c: Context<Env>, identity: Identity): Promise<Response> => {
    await gate.admit(identity);
    const isMasked = readsMasked(identity, operation.scope);
    if (!isMasked) requireScope(identity, operation.scope);
    const caller = callerOf(operation, identity, isMasked);
    const params = await requireSubject(operation, caller, gate.pool, c);
    const serve = async (pace: Pace) => {
      const sent = await readSent(operation, c, pace);
      const reading = operation.isReport ? await gate.reports() : null;
      const asked = {
        ...caller,
        path: operation.path,
        reading,
        actor: identity.actor,
        requestId: c.var.requestId,
        id: readPathId(c),
        params,
        ...sent,
      };
      const answer = await respond(asked as never, deps as never, c.req);
      if (caller.by === 'auditor' && caller.seesCpf) {
        const { pathname, search } = new URL(c.req.url);
        const named = `${operation.method.toUpperCase()} ${operation.path}`;
        const { actor, requestId } = asked;
        const body = 'body' in answer ? answer.body : null;
        // A balance and a manifest come as a stream of JSON, and have no row's texts; a file may have any.
        const whole = body instanceof JsonStream ? {} : body;
        const events = whole instanceof BodyStream ? null : eventsIn(whole);
        await gate.logCpfRead({ actor, operation: named, asked: pathname + decoded(search), requestId, events });
      }
      if ('refused' in answer) throw refusalError(answer.refused);
      const shown = isMasked && operation.masksItself !== true ? maskedAnswer(answer) : answer;
      return toResponse(c, { ...shown, headers: { ...lagHeaders(reading), ...answer.headers } });
    };
    const { maxBodyBytes = MAX_BODY_BYTES } = operation;
    if (maxBodyBytes <= MAX_BODY_BYTES || !mayBeLarge(c.req)) return serve(gate.bodyPace);
    expectJson(c.req, maxBodyBytes);
    return gate.acquire(caller.by === 'partner' ? caller.partnerId : '', () => serve(gate.largeBodyPace));
  };
  return async (c) => {
    const identity = await gate.authenticate(c.req.header('Authorization'));
    c.set('partnerId', identity.partnerId);
    await gate.countRequest(identity);
    const end = gate.begin(identity);
    const { outgoing } = (c.env as Sent | undefined) ?? {};
    if (outgoing === undefined || outgoing.closed) return work(c, identity).finally(end);
    outgoing.once('close', end);
    return work(c, identity);
  };
}

/** A query as a person reads it. */
function decoded(search: string): string {
  const fields = [...new URLSearchParams(search)].map(([name, value]) => `${name}=${value}`);
  return fields.length === 0 ? '' : `?${fields.join('&')}`;
}

function callerOf({ scope }: Operation, identity: Identity, isMasked: boolean): Caller {
  if (!SCOPES_WITHOUT_PARTNER.includes(scope)) return { by: 'partner', partnerId: requirePartner(identity), isMasked };
  requireNoPartner(identity);
  if (scope !== 'auditoria:read') return { by: scope === 'operador' ? 'operator' : 'core' };
  return { by: 'auditor', seesCpf: identity.scopes.has('auditoria:cpf' satisfies Scope) };
}

/** The parameters of the path. Throws 404 for a value that its schema refuses, and for what the partner does not have. */
async function requireSubject(
  { params = {}, exists }: Operation,
  caller: Caller,
  pool: Pool,
  c: Context<Env>,
): Promise<object> {
  const read: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(params)) {
    const parsed = schema.safeParse(c.req.param(name));
    if (!parsed.success) throw notFound();
    read[name] = parsed.data;
  }
  const asking = caller.by === 'partner' ? caller.partnerId : null;
  if (exists && !(await exists(pool, asking, readPathId(c)))) throw notFound();
  return read;
}

const NO_QUERY = z.strictObject({});

async function readSent(operation: Operation, c: Context<Env>, pace: Pace) {
  const details: ErrorDetail[] = [];
  const keep = (checked: Checked<unknown>): unknown => {
    if ('data' in checked) return checked.data;
    details.push(...checked.details);
    return undefined;
  };

  let body: unknown;
  if (operation.body) {
    const { maxBodyBytes = MAX_BODY_BYTES, isBodyOptional = false } = operation;
    const value = isBodyOptional ? await readJsonIfAny(c.req, pace) : await readJson(c.req, maxBodyBytes, pace);
    body = keep(check(operation.body, value, 'corpo'));
  } else if (operation.method !== 'get') {
    await expectNoBody(c.req, pace);
  }

  const query = keep(check(operation.query ?? NO_QUERY, readQuery(c), 'consulta'));

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
  return parsed.data;
}
