/**
 * Holds every answer that a test receives against /openapi.json: its status is declared for that operation, its body
 * fits the schema of that status, and its headers are there. It reads the document alone, as a partner would, and not the
 * code that made it.
 */
import type { Hono } from 'hono';
import { z } from 'zod';
import type { Env } from '../../src/http/request.ts';
import {
  type ApiDescription,
  answerOf,
  type DescribedContent,
  type DescribedOperation,
  headersOf,
} from './description.ts';

export interface ReceivedAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

export type DescribedAnswers = ReturnType<typeof describedAnswers>;

/** Routes outside the described interface; their refusals have the common body. */
const UNDESCRIBED =
  /^\/(healthz|readyz|metrics|openapi(\.en)?\.json|ferramentas\/listen\.mjs|docs(\/.*)?|\.well-known\/.*|v1\/evidencia\/.*)?$/;

/** Refusals before an operation is found, on any path (described in `info.description`). */
const ANYWHERE = new Map([
  [404, 'NAO_ENCONTRADO'],
  [405, 'METODO_NAO_PERMITIDO'],
]);

/** Headers of HTTP itself, with the same meaning on every answer. */
const OF_HTTP =
  /^(cache-control|connection|content-length|content-type|date|keep-alive|transfer-encoding|x-content-type-options)$/;

/** JSON Schema's `uuid` is one of any version and variant, as a core's own may be; zod's is not. */
const ANY_UUID = '"pattern":"^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$"';

const ERROR_BODY = { $ref: '#/components/schemas/Erro' };

export function describedAnswers(description: ApiDescription) {
  const find = router(description);
  const fit = schemaChecker(description);

  return {
    /** Throws when the answer is not as described. */
    check(method: string, path: string, { status, headers, text }: ReceivedAnswer) {
      const asked = `${method} ${path} → ${status}`;
      requireNosniff(asked, headers);
      if (UNDESCRIBED.test(path)) {
        if (status >= 400 && method !== 'HEAD') fit(asked, ERROR_BODY, JSON.parse(text));
        return;
      }
      const operation = find(method === 'HEAD' ? 'GET' : method, path);
      if (operation === undefined) {
        checkAnywhere(asked, { status, headers, text }, method === 'HEAD');
        return;
      }
      const declared = answerOf(description, operation, status);
      if (declared === undefined) throw new Error(`${asked}: the description has no such status: ${text}`);
      checkHeaders(asked, declared, headers);
      if (method !== 'HEAD') checkBody(asked, declared, headers.get('Content-Type'), text);
    },
    /** The same for the answer to bytes that are not a readable request. */
    checkUnread({ status, headers, text }: ReceivedAnswer) {
      requireNosniff(`what cannot be read → ${status}`, headers);
      checkRefusal(`what cannot be read → ${status}`, { status, headers, text }, 'ERRO_VALIDACAO');
      if (status !== 400) throw new Error(`what cannot be read → ${status}: the description tells 400`);
    },
    /** The same for the POST of a webhook. */
    checkWebhook(event: string, headers: Readonly<Record<string, unknown>>, body: unknown) {
      const { post } = description.webhooks[event] ?? {};
      if (post === undefined) throw new Error(`${event} is not in the description`);
      const named = post.parameters.map((parameter) => dereferenced(parameter));
      for (const { name, required, schema } of named) {
        const value = headers[name.toLowerCase()];
        if (value === undefined && !required) continue;
        fit(`${event}, header ${name}`, schema, schema.type === 'integer' ? Number(value) : value);
      }
      fit(`the body of ${event}`, post.requestBody?.content['application/json']?.schema ?? {}, body);
    },
  };

  function checkAnywhere(asked: string, answer: ReceivedAnswer, isHead: boolean): void {
    const code = ANYWHERE.get(answer.status);
    if (code === undefined) {
      throw new Error(`${asked}: the description has no such path and method: ${answer.text}`);
    }
    if (code === 'METODO_NAO_PERMITIDO' && !answer.headers.has('Allow')) {
      throw new Error(`${asked}: the description promises Allow`);
    }
    if (!isHead) checkRefusal(asked, answer, code);
  }

  function checkRefusal(asked: string, { headers, text }: ReceivedAnswer, code: string): void {
    if (!headers.has('X-Request-Id')) throw new Error(`${asked}: the description promises X-Request-Id`);
    const { codigo } = JSON.parse(text) as { readonly codigo?: string };
    if (codigo !== code) throw new Error(`${asked}: the description has no such path and method: ${text}`);
    fit(asked, ERROR_BODY, JSON.parse(text));
  }

  /** Requires that every described header is there and fits, and that there is no other. */
  function checkHeaders(asked: string, declared: DescribedContent, headers: Headers): void {
    const reported = headersOf(description, declared);
    for (const [name, { required, schema }] of reported) {
      const value = headers.get(name);
      if (value === null && required) throw new Error(`${asked}: the description promises ${name}`);
      if (value === null) continue;
      fit(`${asked}, header ${name}`, schema, schema.type === 'integer' ? Number(value) : value);
    }
    const names = new Set([...reported.keys()].map((name) => name.toLowerCase()));
    for (const name of headers.keys()) {
      if (!names.has(name) && !OF_HTTP.test(name)) throw new Error(`${asked}: the description tells no ${name}`);
    }
  }

  function checkBody(asked: string, { content }: DescribedContent, type: string | null, text: string): void {
    if (content === undefined) {
      if (text !== '') throw new Error(`${asked}: the description tells no body: ${text.slice(0, 200)}`);
      return;
    }
    const media = content[type?.split(';')[0] ?? ''];
    if (media === undefined) throw new Error(`${asked}: the description does not tell ${type}`);
    if (type?.startsWith('application/json')) fit(asked, media.schema, JSON.parse(text));
  }

  function dereferenced(parameter: DescribedOperation['parameters'][number] & { readonly $ref?: string }) {
    const name = parameter.$ref?.replace('#/components/parameters/', '');
    const found = name === undefined ? parameter : description.components.parameters[name];
    if (found === undefined) throw new Error(`no header ${name} in the description`);
    return found;
  }
}

/** Every answer forbids browsers to guess another content type. */
function requireNosniff(asked: string, headers: Headers): void {
  if (headers.get('X-Content-Type-Options') !== 'nosniff')
    throw new Error(`${asked}: no X-Content-Type-Options: nosniff`);
}

/** Finds an operation by method and real path; a fixed segment goes before one in braces. */
function router({ paths }: ApiDescription) {
  const patterns = Object.keys(paths)
    .toSorted((a, b) => a.split('{').length - b.split('{').length)
    .map((path) => ({ path, pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`) }));
  return (method: string, path: string): DescribedOperation | undefined => {
    const found = patterns.find(({ pattern }) => pattern.test(path));
    return found && paths[found.path]?.[method.toLowerCase()];
  };
}

/** Checks values against schemas of the document; each schema is prepared once. */
export function schemaChecker({ components }: ApiDescription) {
  const prepared = new Map<unknown, z.ZodType>();
  const pointed = (schema: unknown): z.core.JSONSchema.JSONSchema =>
    JSON.parse(
      JSON.stringify(schema).replaceAll('#/components/schemas/', '#/$defs/').replaceAll('"format":"uuid"', ANY_UUID),
    ) as z.core.JSONSchema.JSONSchema;
  const $defs = pointed(components.schemas) as Record<string, z.core.JSONSchema.JSONSchema>;
  return (what: string, schema: object, value: unknown): void => {
    const check = prepared.get(schema) ?? z.fromJSONSchema({ ...pointed(schema), $defs });
    prepared.set(schema, check);
    const { error } = check.safeParse(value);
    if (error === undefined) return;
    const faults = error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
    throw new Error(`${what} is not as described: ${faults.join('; ')} in ${JSON.stringify(value)}`);
  };
}

/** `fetch` for an API that runs in a process of its own, its answers held to the description that it serves. */
export async function fetchDescribed(url: string, init: RequestInit = {}): Promise<Response> {
  const { origin, pathname } = new URL(url);
  const described = describedAnswers(
    (await (await fetch(`${origin}/openapi.json?para=tudo`)).json()) as ApiDescription,
  );
  const response = await fetch(url, init);
  const { status, headers } = response;
  described.check(init.method ?? 'GET', pathname, { status, headers, text: await response.clone().text() });
  return response;
}

/**
 * Makes `app` throw where an answer is not as described, however `app` is called. Returns the errors thrown, for a test behind a
 * socket, which sees only a 400.
 */
export function holdToDescription(app: Pick<Hono<Env>, 'fetch'>, described: DescribedAnswers): readonly Error[] {
  const faults: Error[] = [];
  const answer = app.fetch;
  app.fetch = async (request, ...rest) => {
    const response = await answer(request, ...rest);
    const { status, headers } = response;
    // A body that is not JSON is not read: it may be an endless stream.
    const isText = headers.has('Content-Type') && !headers.get('Content-Type')?.startsWith('application/json');
    const text = isText ? '' : await response.clone().text();
    try {
      described.check(request.method, new URL(request.url).pathname, { status, headers, text });
    } catch (fault) {
      faults.push(fault as Error);
      throw fault;
    }
    return response;
  };
  return faults;
}
