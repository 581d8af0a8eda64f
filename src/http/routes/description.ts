/** `GET /openapi.json`: the description, for everybody. The pages at /docs are made from it (src/painel/docs/). */
import { createHash } from 'node:crypto';
import type { Context } from 'hono';
import type { Env } from '../request-env.ts';

/** `describe` is called once, at the first request. */
export function answerDescription(describe: () => unknown) {
  let made: { readonly text: string; readonly tag: string } | null = null;
  return (c: Context<Env>): Response => {
    c.set('route', '/openapi.json');
    made ??= taggedJson(describe());
    const headers = {
      ETag: made.tag,
      'Cache-Control': 'no-cache',
      'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
      'Referrer-Policy': 'no-referrer',
    };
    if (c.req.header('If-None-Match') === made.tag) return c.body(null, 304, headers);
    return c.body(made.text, 200, { ...headers, 'Content-Type': 'application/json' });
  };
}

function taggedJson(description: unknown): { readonly text: string; readonly tag: string } {
  const text = JSON.stringify(description);
  return { text, tag: `"${createHash('sha256').update(text).digest('base64url')}"` };
}
