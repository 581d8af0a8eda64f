/** `GET /openapi.json`, and `/openapi.en.json` in English: the description, for everybody. The page /docs/api shows it. */
import { createHash } from 'node:crypto';
import type { Context } from 'hono';
import type { Env } from '../request-env.ts';
import type { Language } from '../../contract/language.ts';

export const DESCRIPTION_PATHS: Readonly<Record<Language, string>> = { pt: '/openapi.json', en: '/openapi.en.json' };

/** `describe` is called once, at the first request. */
export function answerDescription(path: string, describe: () => unknown) {
  let made: { readonly text: string; readonly tag: string } | null = null;
  return (c: Context<Env>): Response => {
    c.set('route', path);
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
