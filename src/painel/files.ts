/** The page's own files: style, scripts and three libraries, each under a name that changes with its bytes. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

export interface StaticFile {
  readonly bytes: Buffer<ArrayBuffer>;
  readonly type: string;
  readonly tag: string;
}

const CSS = 'text/css; charset=utf-8';
const JAVASCRIPT = 'text/javascript; charset=utf-8';

const own = (name: string) => new URL(`assets/${name}`, import.meta.url);
const UPLOT = new URL(import.meta.resolve('uplot/dist/uPlot.iife.min.js'));
const UPLOT_CSS = new URL(import.meta.resolve('uplot/dist/uPlot.min.css'));
const HTMX = new URL(import.meta.resolve('htmx.org/dist/htmx.min.js'));
const SWAGGER = new URL(import.meta.resolve('swagger-ui-dist/swagger-ui-bundle.js'));
const SWAGGER_CSS = new URL(import.meta.resolve('swagger-ui-dist/swagger-ui.css'));

const SOURCES = {
  'page.css': [own('page.css'), CSS],
  'page.js': [own('page.js'), JAVASCRIPT],
  'icon.svg': [own('icon.svg'), 'image/svg+xml'],
  'reference.css': [own('reference.css'), CSS],
  'reference.js': [own('reference.js'), JAVASCRIPT],
  'charts.js': [own('charts.js'), JAVASCRIPT],
  'htmx.js': [HTMX, JAVASCRIPT],
  'swagger-ui.css': [SWAGGER_CSS, CSS],
  'swagger-ui.js': [SWAGGER, JAVASCRIPT],
  'uplot.js': [UPLOT, JAVASCRIPT],
  'uplot.css': [UPLOT_CSS, CSS],
} as const;

export type FileName = keyof typeof SOURCES;

const byPath = new Map<string, StaticFile>();
const paths = new Map<FileName, string>();

for (const [name, [url, type]] of Object.entries(SOURCES)) {
  const bytes = readFileSync(url);
  const hash = createHash('sha256').update(bytes).digest('base64url').slice(0, 16);
  const path = name.replace('.', `.${hash}.`);
  byPath.set(path, { bytes, type, tag: `"${hash}"` });
  paths.set(name as FileName, `/painel/arquivos/${path}`);
}

export function pathOf(name: FileName): string {
  return paths.get(name) as string;
}

/** The file of a name with its hash; undefined for any other, whatever the disk holds. */
export function findFile(path: string): StaticFile | undefined {
  return byPath.get(path);
}
