/**
 * `GET /ferramentas/listen.mjs`: the command `listen` as one file that a partner runs with Node alone. No token. It is made of our
 * own modules at the first request, which takes some seconds, so it sends what this release sends.
 */
import { fileURLToPath } from 'node:url';
import type { Context } from 'hono';
import type { Env } from '../request-env.ts';
import { answerTagged, type Tagged, tagged } from '../answer.ts';

export const LISTEN_PATH = '/ferramentas/listen.mjs';
const ENTRY = fileURLToPath(new URL('../../main/listen-alone.ts', import.meta.url));
/** An older Node would fail inside a library with a message that does not tell why. */
const VERSION = `if (Number(process.versions.node.split('.')[0]) < 22) {
  process.stderr.write('listen needs Node 24, and this is ' + process.versions.node + '\\n');
  process.exit(2);
}`;
/** For packages of CommonJS, which ask for Node's own modules. */
const REQUIRE = "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);";

export function answerListen() {
  let made: Promise<Tagged> | null = null;
  return async (c: Context<Env>): Promise<Response> => {
    made ??= make().catch((error: unknown) => {
      made = null;
      throw error;
    });
    return answerTagged(c, await made, 'text/javascript; charset=utf-8', {
      'Cache-Control': 'no-cache',
      'X-Content-Type-Options': 'nosniff',
    });
  };
}

async function make(): Promise<Tagged> {
  const { build, stop } = await import('esbuild-wasm');
  const { outputFiles } = await build({
    entryPoints: [ENTRY],
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node22',
    charset: 'utf8',
    banner: { js: `${REQUIRE}\n${VERSION}` },
    logLevel: 'silent',
    write: false,
  });
  await stop();
  return tagged(outputFiles[0]?.text ?? '');
}
