/** The examples of deployment speak of commands, variables, ports and paths that there are, and keep their own rules. */
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import manifest from '../../../package.json' with { type: 'json' };
import { POLLER_METRICS_PORT, readConfig, type Use, VARIABLES } from '../../../src/config.ts';
import { openPort } from '../../../src/main/operations/port.ts';
import { DRAIN_TIMEOUT_MS } from '../../../src/main/service/serve.ts';
import { startApi, type TestApi } from '../../support/api.ts';
import { type Example, exampleOf, readCompose, readPods, readUnits } from '../../support/deploy-examples.ts';
import { folderWith, isThere, run } from '../../support/snippets.ts';

const FOLDER = path.resolve(import.meta.dirname, '../../../src/main/deploy');
const read = (file: string) => readFileSync(path.join(FOLDER, file), 'utf8');
const manifests = globSync('kubernetes/*.yaml', { cwd: FOLDER }).toSorted();
const objects = manifests.flatMap((file) =>
  parseAllDocuments(read(file)).map((document) => {
    if (document.errors.length > 0) throw new Error(`${file}: ${document.errors.join('; ')}`);
    return document.toJS() as Example;
  }),
);
const unitFiles = globSync('systemd/*.service', { cwd: FOLDER }).toSorted();

const processes = [
  ...readCompose(read('compose.yaml')),
  ...readPods(objects),
  ...readUnits(unitFiles.map((file) => [path.basename(file), read(file)])),
];
const USES: Readonly<Record<string, readonly Use[]>> = { api: ['secrets', 'tokens'], poll: ['secrets'], migrate: [] };
/** Of Node and the allocator. */
const FOREIGN = new Set(['NODE_ENV', 'NODE_OPTIONS', 'MALLOC_ARENA_MAX', 'MALLOC_MMAP_THRESHOLD_']);
/** In place of what a file refers to. */
const SECRET: Readonly<Record<string, string>> = {
  DATABASE_URL: 'postgres://login:password@db.example/core',
  SECRETS_KEY: Buffer.alloc(32, 7).toString('base64'),
  ANCHOR_DIRECTORY: '/anchors',
  JWT_ISSUER: 'https://login.example',
  JWT_AUDIENCE: 'carteiro',
  JWT_JWKS_URL: 'https://login.example/jwks.json',
};

const named = processes.map((found) => [`${found.where}: ${found.command}`, found] as const);

test('each of the three ways runs two api, three poll and migrate', () => {
  for (const where of ['compose', 'kubernetes', 'systemd']) {
    const own = processes.filter((found) => found.where === where);
    // A unit is a template, of which the page starts so many.
    const page = read('README.md').match(/carteiro-(api|poll)@\d+/g) ?? [];
    const started = (command: string, count: number) =>
      where === 'systemd' && command !== 'migrate'
        ? new Set(page.filter((unit) => unit.includes(command))).size
        : count;
    const sums = new Map<string, number>();
    for (const { command, count } of own) sums.set(command, (sums.get(command) ?? 0) + started(command, count));
    expect(Object.fromEntries(sums)).toEqual({ api: 2, poll: 3, migrate: 1 });
  }
});

test.each(named)('%s has the variables that it needs, and none that is not known', (_name, { command, variables }) => {
  const given = Object.entries(variables).map(([name, value]) => [name, value ?? SECRET[name]] as const);
  expect(given.filter(([, value]) => value === undefined)).toEqual([]);
  expect(given.filter(([name]) => !VARIABLES.includes(name) && !FOREIGN.has(name))).toEqual([]);
  expect(() => readConfig(Object.fromEntries(given), USES[command])).not.toThrow();
  for (const name of ['DATABASE_URL', 'SECRETS_KEY']) expect(variables[name] ?? null).toBeNull();
});

test.each(named)('%s signs, finds workers and keeps checkpoints outside, as far as it is its work', (_name, found) => {
  const given = Object.keys(found.variables);
  const wanted = { api: ['CHECKPOINT_KEY_FILE', 'WORKER_KEY_FILE', 'ANCHOR_'], poll: ['CHECKPOINT_KEY_FILE'] };
  for (const name of wanted[found.command as 'api'] ?? [])
    expect(given.some((variable) => variable.startsWith(name))).toBe(true);
});

test('units are watched: one that says no more that it lives is started again', () => {
  for (const file of unitFiles.filter((one) => one.includes('@')))
    expect(read(file)).toMatch(/^Type=notify\nNotifyAccess=all\nWatchdogSec=60$/m);
});

test.each(named)('%s may drain before it is killed', (_name, { command, variables, graceS }) => {
  if (command === 'migrate') return;
  const { drainDelayS } = readConfig({ DRAIN_DELAY_SECONDS: variables['DRAIN_DELAY_SECONDS'] ?? undefined });
  expect(graceS).toBeGreaterThanOrEqual(DRAIN_TIMEOUT_MS / 1_000 + drainDelayS + 5);
  expect(drainDelayS > 0).toBe(command === 'api');
});

test.each(named)('%s runs without root, without rights, and with a bound on its memory', (_name, found) => {
  expect(found.isGuarded).toBe(true);
  const bound = found.memory ?? (found.command === 'migrate' ? '1g' : 'none');
  expect(bound).toMatch(/^\d+(g|m|Gi|Mi|G|M)$/);
});

describe('probes', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startApi();
  });

  const probed = processes.filter(({ probes }) => probes.length > 0);

  test('are there for each process of kubernetes that serves', () => {
    expect(probed.map(({ where, command, probes }) => [where, command, probes.length])).toEqual([
      ['kubernetes', 'api', 3],
      ['kubernetes', 'poll', 3],
    ]);
  });

  test.each(probed.map((found) => [found.command, found] as const))(
    'of %s ask what it answers, where it does',
    async (command, found) => {
      const { port } = readConfig({});
      expect(found.ports).toEqual([command === 'api' ? port : POLLER_METRICS_PORT]);
      const own = await openPort({
        host: '127.0.0.1',
        port: 0,
        metrics: { expose: () => Promise.resolve({ text: '', contentType: 'text/plain' }) },
        ready: () => Promise.resolve(null),
      });
      const ask = (at: string) =>
        command === 'api' ? api.app.fetch(new Request(`http://api${at}`)) : fetch(`${own.url}${at}`);
      for (const probe of found.probes) {
        expect(found.ports).toContain(probe.port);
        expect([probe.path, (await ask(probe.path)).status]).toEqual([probe.path, 200]);
      }
      await own.close();
    },
  );
});

test('in kubernetes every reference leads to something: selectors, target ports, config, secrets', () => {
  const pods = objects.map(exampleOf).filter((object) => object.podLabels !== null);
  const isSubset = (part: Record<string, string>, whole: Record<string, string>) =>
    Object.entries(part).every(([name, value]) => whole[name] === value);
  const selecting = objects.map(exampleOf).filter((object) => object.selector !== null);
  expect(selecting.map(({ kind }) => kind).toSorted()).toEqual([
    'Deployment',
    'Deployment',
    'NetworkPolicy',
    'NetworkPolicy',
    'PodDisruptionBudget',
    'PodDisruptionBudget',
    'Service',
  ]);
  for (const { selector, kind, minAvailable, name } of selecting) {
    const selected = pods.filter(({ podLabels }) => isSubset(selector ?? {}, podLabels ?? {}));
    expect([kind, name, selected.map((pod) => pod.name)]).toEqual([kind, name, [name]]);
    expect(minAvailable ?? 0).toBeLessThan(selected[0]?.replicas ?? 0);
  }
  const secrets = new Set(objects.flatMap((object) => exampleOf(object).secrets));
  const made = [...read('README.md').matchAll(/create secret generic (\S+) (.+)/g)].flatMap(([, secret, files = '']) =>
    [...files.matchAll(/--from-file=(\S+?)=/g)].map(([, key]) => `${secret}/${key}`),
  );
  expect(new Set(made)).toEqual(secrets);
});

test('every image and the job have the version of this product', () => {
  const images = processes.map(({ image }) => image).filter((image) => image !== null);
  expect(new Set(images)).toEqual(new Set([`carteiro:${manifest.version}`]));
  expect(objects.map(exampleOf).find(({ kind }) => kind === 'Job')?.name).toBe(
    `migrate-${manifest.version.replaceAll('.', '-')}`,
  );
  const named = read('README.md').match(/job\/migrate-[\d-]+|carteiro:\d[\d.]+\d/g);
  expect(new Set(named)).toEqual(
    new Set([`job/migrate-${manifest.version.replaceAll('.', '-')}`, `carteiro:${manifest.version}`]),
  );
});

test('compose gives each API a port of its own on the loopback, as Podman asks for and a proxy needs', () => {
  const published = [...read('compose.yaml').matchAll(/^ {2}(\S+):\n {4}<<: \*api\n {4}ports: \[(.*)\]$/gm)];
  expect(published.map(([, service, port]) => [service, port])).toEqual([
    ['api-3000', `'127.0.0.1:3000:3000'`],
    ['api-3001', `'127.0.0.1:3001:3000'`],
  ]);
});

test('systemd finds nothing wrong with the units', async ({ skip }) => {
  skip(!(await isThere(['systemd-analyze', '--version'])), 'systemd-analyze is not installed, the units are only read');
  const units = unitFiles.map((file) => {
    // An instance of each template, with a Node that is there.
    const text = read(file)
      .replaceAll('/usr/bin/node', process.execPath)
      .replaceAll(/\/opt\/carteiro/g, '/');
    return [path.basename(file).replace('@.', '@9464.'), text] as const;
  });
  const folder = await folderWith(Object.fromEntries(units));
  const verify = ['systemd-analyze', 'verify', '--man=no', '--recursive-errors=no'] as const;
  expect(await run([...verify, ...units.map(([file]) => `./${file}`)], folder.path)).toBe('');
});

test('the manifests fit the schemas of Kubernetes', async ({ skip }) => {
  skip(
    !(await isThere(['kubernetes-validate', '--help'])),
    'kubernetes-validate (pip) is not installed, the manifests are only read',
  );
  const [first = '', ...others] = manifests;
  await expect(run(['kubernetes-validate', '--strict', first, ...others], FOLDER)).resolves.toBeTypeOf('string');
});

test('docker compose takes its file', async ({ skip }) => {
  skip(
    !(await isThere(['docker', 'compose', 'version'])),
    'docker compose is not installed, the Compose file is only read',
  );
  const env = {
    ...SECRET,
    ...Object.fromEntries(
      ['MIGRATE', 'API', 'POLL'].map((who) => [`${who}_DATABASE_URL`, SECRET['DATABASE_URL'] ?? '']),
    ),
  };
  const config = ['docker', 'compose', '--file', 'compose.yaml', 'config', '--quiet'] as const;
  expect(await run([...config], FOLDER, '', env)).toBe('');
});
