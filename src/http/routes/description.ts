/** `GET /openapi.json`, and `/openapi.en.json` in English: the description, for everybody. The page /docs/api shows it. */
import type { Context } from 'hono';
import type { Env } from '../request-env.ts';
import { answerTagged, type Tagged, tagged } from '../answer.ts';
import type { Language } from '../../contract/language.ts';

export const DESCRIPTION_PATHS: Readonly<Record<Language, string>> = { pt: '/openapi.json', en: '/openapi.en.json' };

/** `describe` is called once, at the first request. */
export function answerDescription(describe: () => unknown) {
  let made: Tagged | null = null;
  return (c: Context<Env>): Response => {
    made ??= tagged(Buffer.from(JSON.stringify(describe())));
    return answerTagged(c, made, 'application/json', {
      'Cache-Control': 'no-cache',
      'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
      'Referrer-Policy': 'no-referrer',
    });
  };
}
