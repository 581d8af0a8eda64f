/** Makes `src/main/listen.mjs` of listen-alone.ts. Where esbuild (for development) is missing, the API answers 503 for the file. */
import { fileURLToPath } from 'node:url';

const [entry = '', file = ''] = ['listen-alone.ts', 'listen.mjs'].map((name) =>
  fileURLToPath(new URL(name, import.meta.url)),
);
/** An older Node would fail inside a library with a message that does not tell why. */
const VERSION = `if (Number(process.versions.node.split('.')[0]) < 22) {
  process.stderr.write('listen needs Node 24, and this is ' + process.versions.node + '\\n');
  process.exit(2);
}`;
/** For packages of CommonJS, which ask for Node's own modules. */
const REQUIRE = "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);";

const esbuild = await import('esbuild').catch(() => null);
if (esbuild === null) process.stderr.write('src/main/listen.mjs is not made: esbuild is not installed\n');
else {
  await esbuild.build({
    entryPoints: [entry],
    outfile: file,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node22',
    charset: 'utf8',
    banner: { js: `${REQUIRE}\n${VERSION}` },
    logLevel: 'warning',
  });
}
