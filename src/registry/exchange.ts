/** One request to the registry and its answer: bounded JSON, or a failure that names its fault. */
import { randomUUID } from 'node:crypto';
import { request } from 'undici';
import type { z } from 'zod';
import { MAX_ANSWER_BYTES } from '../contract/registry-wire.ts';
import { currentTraceparent } from '../telemetry/traces.ts';
import type { Credentials } from './credentials.ts';
import { RegistryFailure } from './port.ts';

const INVALID = 'o registry deu uma resposta inválida';

export interface Exchange {
  readonly method: 'GET' | 'POST';
  /** With its query. */
  readonly path: string;
  readonly body?: object;
  readonly idempotencyKey?: string;
  readonly requestId: string | null;
}

export interface Answer {
  readonly status: number;
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly of: string;
}

/** Follows no redirect. Throws {@link RegistryFailure}. */
export async function exchange(
  base: string,
  credentials: Credentials,
  { method, path, body, idempotencyKey, requestId }: Exchange,
  signal: AbortSignal,
): Promise<Answer> {
  signal.throwIfAborted();
  const of = `${method} ${path.split('?', 1)[0]}`;
  const traceparent = currentTraceparent();
  const { authorization, dispatcher } = await credentials.current();
  const headers = {
    Accept: 'application/json',
    'X-Request-Id': requestId ?? randomUUID(),
    ...(traceparent !== null && { traceparent }),
    ...(authorization !== null && { Authorization: authorization }),
    ...(idempotencyKey !== undefined && { 'Idempotency-Key': idempotencyKey }),
    ...(body !== undefined && { 'Content-Type': 'application/json' }),
  };
  try {
    const text = body === undefined ? null : JSON.stringify(body);
    const answer = await request(`${base}${path}`, { method, headers, body: text, dispatcher, signal });
    const bytes = Buffer.from(await answer.body.arrayBuffer());
    return { status: answer.statusCode, headers: answer.headers, of, body: bodyOf(bytes, of, answer.statusCode) };
  } catch (error) {
    if (error instanceof RegistryFailure) throw error;
    signal.throwIfAborted();
    const { code = (error as Error).name } = error as { code?: string };
    if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE')
      throw new RegistryFailure(`${of}: more than ${MAX_ANSWER_BYTES / 1024} KiB`, { reported: INVALID });
    throw new RegistryFailure(`${of}: no answer (${code})`, { cause: error });
  }
}

function bodyOf(bytes: Buffer, of: string, status: number): unknown {
  if (bytes.length === 0) return undefined;
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as unknown;
  } catch {
    // Of GET /saude only the status counts.
    if (of === 'GET /saude') return undefined;
    throw new RegistryFailure(`${of}: answered ${status} with what is not JSON in UTF-8`, { reported: INVALID });
  }
}

/** The body by `schema`. Throws {@link RegistryFailure}, which names field and rule. */
export function shaped<T extends z.ZodType>({ body, of, status }: Answer, schema: T): z.output<T> {
  const read = schema.safeParse(body);
  if (read.success) return read.data;
  throw new RegistryFailure(`${of}: answered ${status}, but ${ruleOf(read.error)}`, { reported: INVALID });
}

/** The first misfit field, under `prefix`, and the rule; no value. */
export function ruleOf({ issues: [issue] }: z.ZodError, prefix: readonly PropertyKey[] = []): string {
  const field = [...prefix, ...(issue?.path ?? [])].join('.');
  return `${field === '' ? 'the body' : field}: ${issue?.message ?? 'has another shape'}`;
}
