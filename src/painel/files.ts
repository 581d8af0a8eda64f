/** The page's own files: style, scripts and three libraries, each under a name that changes with its bytes. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

const own = (name: string) => new URL(`assets/${name}`, import.meta.url).href;

const SOURCES = {
  'page.css': own('page.css'),
  'page.js': own('page.js'),
  'icon.svg': own('icon.svg'),
  'reference.css': own('reference.css'),
  'reference.js': own('reference.js'),
  'charts.js': own('charts.js'),
  'htmx.js': import.meta.resolve('htmx.org/dist/htmx.min.js'),
  'swagger-ui.css': import.meta.resolve('swagger-ui-dist/swagger-ui.css'),
  'swagger-ui.js': import.meta.resolve('swagger-ui-dist/swagger-ui-bundle.js'),
  'uplot.js': import.meta.resolve('uplot/dist/uPlot.iife.min.js'),
  'uplot.css': import.meta.resolve('uplot/dist/uPlot.min.css'),
};
const TYPES = { css: 'text/css; charset=utf-8', js: 'text/javascript; charset=utf-8', svg: 'image/svg+xml' };

const FILES = Object.entries(SOURCES).map(([name, url]) => {
  const bytes = readFileSync(new URL(url));
  const hash = createHash('sha256').update(bytes).digest('base64url').slice(0, 16);
  const type = TYPES[name.split('.')[1] as keyof typeof TYPES];
  return { name, path: name.replace('.', `.${hash}.`), bytes, type, tag: `"${hash}"` };
});

export function pathOf(name: keyof typeof SOURCES): string {
  return `/painel/arquivos/${FILES.find((file) => file.name === name)?.path}`;
}

/** The file of a name with its hash; undefined for any other, whatever the disk holds. */
export const findFile = (path: string) => FILES.find((file) => file.path === path);
