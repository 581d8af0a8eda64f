/**
 * `GET /ferramentas/listen.mjs`: the command `listen` as one file that a partner runs with Node alone. No token. It is made of our
 * own modules at the first request, which takes some seconds, so it sends what this release sends.
 */
import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import type { Context } from 'hono';
import type { Env } from '../request-env.ts';

export const LISTEN_PATH = '/ferramentas/listen.mjs';
const ENTRY = fileURLToPath(new URL('../../main/listen-alone.ts', import.meta.url));
/** An older Node fails inside of a library, without a word of why. */
const VERSION = `if (Number(process.versions.node.split('.')[0]) < 22) {
  process.stderr.write('listen needs Node 24, and this is ' + process.versions.node + '\\n');
  process.exit(2);
}`;
/** For packages of CommonJS, which ask for Node's own modules. */
const REQUIRE = "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);";

interface Made {
  readonly text: string;
  readonly tag: string;
}

export function answerListen() {
  let made: Promise<Made> | null = null;
  return async (c: Context<Env>): Promise<Response> => {
    c.set('route', LISTEN_PATH);
    made ??= make().catch((error: unknown) => {
      made = null;
      throw error;
    });
    const { text, tag } = await made;
    const headers = { ETag: tag, 'Cache-Control': 'no-cache', 'X-Content-Type-Options': 'nosniff' };
    if (c.req.header('If-None-Match') === tag) return c.body(null, 304, headers);
    return c.body(text, 200, { ...headers, 'Content-Type': 'text/javascript; charset=utf-8' });
  };
}

async function make(): Promise<Made> {
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
  const text = outputFiles[0]?.text ?? '';
  return { text, tag: `"${createHash('sha256').update(text).digest('base64url')}"` };
}
