/** `GET /ferramentas/listen.mjs`: `listen` as one file for Node alone, made by main/make-listen.ts. No token. */
import { readFileSync } from 'node:fs';
import type { Context } from 'hono';
import { unavailable } from '../api-error.ts';
import type { Env } from '../request-env.ts';
import { answerTagged, type Tagged, tagged } from '../answer.ts';

export const LISTEN_PATH = '/ferramentas/listen.mjs';
const FILE = new URL('../../main/listen.mjs', import.meta.url);

export function answerListen() {
  let made: Tagged | null = null;
  return (c: Context<Env>): Response => {
    made ??= tagged(read());
    return answerTagged(c, made, 'text/javascript; charset=utf-8', {
      'Cache-Control': 'no-cache',
      'X-Content-Type-Options': 'nosniff',
    });
  };
}

function read() {
  try {
    return readFileSync(FILE);
  } catch (error) {
    throw unavailable(new Error('src/main/listen.mjs was not made: run npm run prepare', { cause: error }));
  }
}
