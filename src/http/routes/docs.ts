/**
 * The description and the page that shows it. No token, and no host but this one: the page's files come from
 * node_modules, and its policy lets the browser ask nobody else.
 */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Context } from 'hono';
import { notFound } from '../api-error.ts';
import type { Env } from '../deps.ts';

const PAGE = `<!doctype html>
<html lang="pt-BR">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Carteiro: a API</title>
<link rel="icon" href="docs/favicon-32x32.png">
<link rel="stylesheet" href="docs/swagger-ui.css">
<link rel="stylesheet" href="docs/page.css">
</head>
<body>
<div id="api"></div>
<script src="docs/swagger-ui-bundle.js"></script>
<script src="docs/start.js"></script>
</body>
</html>
`;

/** `validatorUrl` null: the badge would send the description's address to a host outside. */
const START = `SwaggerUIBundle({
  url: new URL('openapi.json', document.baseURI).href,
  dom_id: '#api',
  deepLinking: true,
  validatorUrl: null,
});
`;

/** No operation has links, and on a phone their column and the others' indents leave an example no room. */
const STYLE = `.swagger-ui .response-col_links { display: none; }
@media (max-width: 640px) {
  .swagger-ui .info { margin: 24px 0; }
  .swagger-ui .wrapper, .swagger-ui .opblock-body .responses-inner, .swagger-ui .scheme-container { padding: 8px; }
  .swagger-ui .opblock-tag { flex-wrap: wrap; }
  .swagger-ui .opblock-tag small { flex: 1 0 100%; order: 1; padding: 4px 0; }
  .swagger-ui .responses-table > thead { display: none; }
  .swagger-ui .responses-table, .swagger-ui .responses-table > tbody, .swagger-ui tr.response,
  .swagger-ui tr.response > td:not(.response-col_links),
  .swagger-ui .parameters, .swagger-ui .parameters > tbody, .swagger-ui .parameters > tbody > tr,
  .swagger-ui .parameters > tbody > tr > td { display: block; width: auto; max-width: 100%; }
  .swagger-ui .parameters > thead { display: none; }
  .swagger-ui .parameters > tbody > tr > td { padding: 8px 0 0; }
  .swagger-ui tr.response > td { padding: 8px 0 0; }
  .swagger-ui .opblock .opblock-summary { flex-wrap: nowrap; }
  .swagger-ui select { max-width: 100%; }
}
`;

/** Swagger UI sets style attributes and draws its icons from data URLs; everything else is this host's alone. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const SWAGGER = import.meta.resolve('swagger-ui-dist/package.json');

interface Content {
  readonly bytes: Buffer<ArrayBuffer>;
  readonly type: string;
  readonly tag: string;
}

const CSS = 'text/css; charset=utf-8';
const JAVASCRIPT = 'text/javascript; charset=utf-8';

/** The only files there are; a name that is not here is 404, whatever the disk holds. */
const FILES: Readonly<Record<string, () => Promise<Content>>> = {
  'swagger-ui.css': vendored('swagger-ui.css', CSS),
  'swagger-ui-bundle.js': vendored('swagger-ui-bundle.js', JAVASCRIPT),
  'favicon-32x32.png': vendored('favicon-32x32.png', 'image/png'),
  'page.css': async () => contentOf(STYLE, CSS),
  'start.js': async () => contentOf(START, JAVASCRIPT),
};

/** `describe` is called once, at the first request. */
export function answerDescription(describe: () => unknown) {
  const content = once(async () => contentOf(JSON.stringify(describe()), 'application/json'));
  return async (c: Context<Env>): Promise<Response> => {
    c.set('route', '/openapi.json');
    return answer(c, await content(), 'no-cache');
  };
}

export function answerDocsPage(c: Context<Env>): Response {
  c.set('route', '/docs');
  return answer(c, contentOf(PAGE, 'text/html; charset=utf-8'), 'no-cache');
}

export async function answerDocsFile(c: Context<Env>): Promise<Response> {
  c.set('route', '/docs/{file}');
  const name = c.req.param('file') ?? '';
  const read = Object.hasOwn(FILES, name) ? FILES[name] : undefined;
  if (read === undefined) throw notFound();
  return answer(c, await read(), 'public, max-age=3600');
}

function answer(c: Context<Env>, { bytes, type, tag }: Content, caching: string): Response {
  const headers = {
    ETag: tag,
    'Cache-Control': caching,
    'Content-Security-Policy': POLICY,
    'Referrer-Policy': 'no-referrer',
  };
  if (c.req.header('If-None-Match') === tag) return c.body(null, 304, headers);
  return c.body(bytes, 200, { ...headers, 'Content-Type': type });
}

function vendored(name: string, type: string): () => Promise<Content> {
  return once(async () => {
    return contentOf(await readFile(new URL(name, SWAGGER)), type);
  });
}

function contentOf(given: string | Buffer, type: string): Content {
  const bytes = Buffer.from(given);
  return { bytes, type, tag: `"${createHash('sha256').update(bytes).digest('base64url')}"` };
}

/** Keeps what `make` made; a failure is not kept. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | null = null;
  return () => {
    made ??= make().catch((error: unknown) => {
      made = null;
      throw error;
    });
    return made;
  };
}
