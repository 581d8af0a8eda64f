/** The house's one rule about imports: lower ranks, or your own folder. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

const root = path.resolve(import.meta.dirname, '..');

/** Lowest first. A room may import a lower rank and itself; what else it may is in SAME_RANK_ALLOWED. */
const RANKS: readonly (readonly string[])[] = [
  ['contract', 'bounded-answer.ts', 'version.ts'],
  ['settings', 'log-lines.ts'],
  ['config.ts'],
  ['telemetry'],
  ['loan', 'delivery/target'],
  ['db', 'delivery/sending'],
  ['delivery/queue'],
  ['log', 'webhooks', 'registry', 'conformance', 'core', 'delivery/poller', 'delivery/partner', 'audit'],
  ['archive'],
  ['admin'],
  ['http'],
  ['painel', 'listen'],
  ['main.ts', 'main'],
];
const SAME_RANK_ALLOWED = new Set([
  'main.ts → main',
  'core → log',
  'core → registry',
  'core → webhooks',
  'audit → delivery/partner',
  'delivery/partner → delivery/poller',
]);
/** The doors of delivery's rooms: what may be imported from outside src/delivery. */
const DOORS: Readonly<Record<string, readonly string[]>> = {
  'delivery/target': ['identity.ts', 'names.ts', 'parse-target.ts'],
  'delivery/sending': ['headers.ts', 'openers.ts', 'send.ts', 'signature.ts'],
  'delivery/queue': [
    'cancel.ts',
    'consent.ts',
    'end-for-erasure.ts',
    'failing.ts',
    'lane.ts',
    'lease.ts',
    'rescuer.ts',
    'oldest-due.ts',
    'strange-answers.ts',
    'suspend.ts',
  ],
  'delivery/poller': ['loops.ts', 'poller.ts', 'session.ts', 'liveness.ts'],
  'delivery/partner': [
    'activation.ts',
    'advance.ts',
    'delivery-rows.ts',
    'explain.ts',
    'read-attempts.ts',
    'read-deliveries.ts',
    'read-sent.ts',
    'resend.ts',
    'summary.ts',
    'try-out.ts',
    'webhook-health.ts',
  ],
};

function roomOf(file: string): string {
  const [first = '', second = ''] = path.relative(path.join(root, 'src'), file).split(path.sep);
  return first === 'delivery' ? `${first}/${second}` : first;
}

function rankOf(room: string): number {
  const rank = RANKS.findIndex((rooms) => rooms.includes(room));
  if (rank === -1) throw new Error(`src/${room} has no rank: give it one in test/ranks.test.ts`);
  return rank;
}

function importsOf(file: string): string[] {
  const text = readFileSync(file, 'utf8');
  return [...text.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)]
    .map((match) => path.resolve(path.dirname(file), match[1] ?? ''))
    .filter((imported) => imported.startsWith(path.join(root, 'src')));
}

/** Every package that is loaded with `entry`, by imports that are neither of types alone nor made later. */
function packagesLoadedWith(entry: string): ReadonlySet<string> {
  const [seen, packages] = [new Set<string>(), new Set<string>()];
  const walk = (file: string): void => {
    // A line of a snippet that the page shows is no import of ours.
    if (seen.has(file) || !existsSync(file)) return;
    seen.add(file);
    for (const [, types, imported = ''] of readFileSync(file, 'utf8').matchAll(
      /^(?:import|export) (type )?(?:[^;']*? from )?'([^']+)'/gm,
    )) {
      if (types !== undefined) continue;
      if (imported.startsWith('.')) walk(path.resolve(path.dirname(file), imported));
      else packages.add(imported.split('/')[0] ?? '');
    }
  };
  walk(path.join(root, entry));
  return packages;
}

/** The page is a client of the API: beside the API's own doors it imports words, and these, which read and write nothing. */
const PURE_FOR_THE_PAGE = new Set([
  'audit/checkpoint/checkpoint.ts',
  'delivery/sending/headers.ts',
  'delivery/sending/signature.ts',
  'webhooks/advice.ts',
]);
/** The sandbox's receiver plays a partner: it looks up what a partner would have kept. */
const FOR_THE_RECEIVER = ['db/pool.ts', 'webhooks/secrets.ts'];

/** Why a file of the page is no client of the API; null for every other. */
function reachPast(file: string, text: string, imports: readonly string[]): string | null {
  const name = path.relative(path.join(root, 'src'), file);
  if (!name.startsWith('painel/') || name.startsWith('painel/sandbox/')) return null;
  if (/\bpool\b/.test(text)) return `${name} asks the database`;
  const past = imports
    .map((imported) => path.relative(path.join(root, 'src'), imported))
    .filter((imported) => !/^(painel|contract|http(?!\/routes)|log-lines\.ts)/.test(imported))
    .find((imported) => !PURE_FOR_THE_PAGE.has(imported));
  return past === undefined ? null : `${name} imports ${past}`;
}

function violation(file: string, imported: string): string | null {
  const [from, to] = [roomOf(file), roomOf(imported)];
  const said = `${path.relative(root, file)} imports ${path.relative(root, imported)}`;
  if (to === 'config.ts' && rankOf(from) < rankOf('main.ts')) return `${said}: only main imports config`;
  const doors = from.startsWith('delivery/') ? undefined : DOORS[to];
  if (doors !== undefined && !doors.includes(path.basename(imported))) return `${said}, which is no door of ${to}`;
  if (from === to || rankOf(to) < rankOf(from) || SAME_RANK_ALLOWED.has(`${from} → ${to}`)) return null;
  return `${said}: ${from} may not import ${to}`;
}

/** The first circle of imports that is met, as a list of files that ends where it begins; null without one. */
function findCircle(graph: ReadonlyMap<string, readonly string[]>): readonly string[] | null {
  const done = new Set<string>();
  const walk = (file: string, path: readonly string[]): readonly string[] | null => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
    if (done.has(file)) return null;
    for (const imported of graph.get(file) ?? []) {
      const circle = walk(imported, [...path, file]);
      if (circle !== null) return circle;
    }
    done.add(file);
    return null;
  };
  for (const file of graph.keys()) {
    const circle = walk(file, []);
    if (circle !== null) return circle.map((found) => found.replace(`${root}/`, ''));
  }
  return null;
}

test("the house's page lists the rooms in their ranks", () => {
  const page = readFileSync(path.join(root, 'src/README.md'), 'utf8');
  const rows = [...page.matchAll(/^\| (\d+) \| (.+?) \| .* \|.*\|$/gm)];
  const shown = rows.map(([, rank = '', rooms = '']): [number, string[]] => [
    Number(rank),
    [...rooms.matchAll(/`([^`]+?)\/?`/g)].map(([, room = '']) => room),
  ]);
  const listed = Map.groupBy(shown, ([rank]) => rank);
  expect([...listed].map(([rank, all]) => [rank, all.flatMap(([, rooms]) => rooms).toSorted()])).toEqual(
    RANKS.map((rooms, index) => [index + 1, rooms.toSorted()]),
  );
});

describe('the ranks of the house', () => {
  const files = globSync('src/**/*.ts', { cwd: root }).map((file) => path.join(root, file));

  test('every import goes to a lower rank or stays in its own folder', () => {
    const violations = files.flatMap((file) => importsOf(file).map((imported) => violation(file, imported)));
    expect(violations.filter((found) => found !== null)).toEqual([]);
  });

  test('the check sees an import that climbs', () => {
    const climbing = violation(path.join(root, 'src/delivery/queue/claim.ts'), path.join(root, 'src/http/app.ts'));
    expect(climbing).toContain('delivery/queue may not import http');
  });

  test('the check sees an import that does not go through a door', () => {
    const sneaking = violation(path.join(root, 'src/http/app.ts'), path.join(root, 'src/delivery/queue/claim.ts'));
    expect(sneaking).toContain('which is no door of delivery/queue');
  });

  test('the page reads and changes by the API alone', () => {
    const past = files.map((file) => reachPast(file, readFileSync(file, 'utf8'), importsOf(file)));
    expect(past.filter((found) => found !== null)).toEqual([]);
    const receiver = importsOf(path.join(root, 'src/painel/sandbox/inbox.ts')).map((file) =>
      path.relative(path.join(root, 'src'), file),
    );
    expect(receiver.filter((file) => /^(db|webhooks|audit|admin|core)\//.test(file))).toEqual(FOR_THE_RECEIVER);
    const page = path.join(root, 'src/painel/auditor/pages.ts');
    expect(reachPast(page, '', [path.join(root, 'src/audit/seals/verify.ts')])).toContain(
      'imports audit/seals/verify.ts',
    );
    expect(reachPast(page, 'deps.pool.run', [])).toContain('asks the database');
  });

  test('no file imports itself over others', () => {
    expect(findCircle(new Map(files.map((file) => [file, importsOf(file)])))).toBeNull();
  });

  test('the check sees a circle of three', () => {
    const graph = new Map([
      ['a', ['b']],
      ['b', ['c']],
      ['c', ['b']],
    ]);
    expect(findCircle(graph)).toEqual(['b', 'c', 'b']);
  });

  test('drizzle declares the tables, and no line of src imports them or their types: the image does without', () => {
    const heavy = files.filter((file) => packagesLoadedWith(path.relative(root, file)).has('drizzle-orm'));
    expect(heavy.map((file) => path.relative(root, file))).toEqual([]);
    expect(files.filter((file) => /from '[^']*drizzle/.test(readFileSync(file, 'utf8')))).toEqual([]);
    expect(packagesLoadedWith('drizzle/tables/log.ts')).toContain('drizzle-orm');
    expect(packagesLoadedWith('src/main/service/serve.ts')).toContain('undici');
  });

  test("listen runs on a partner's machine: it loads no database, no query builder and no server", () => {
    for (const entry of ['src/main.ts', 'src/main/commands/listen.ts', 'src/listen/run.ts']) {
      const loaded = packagesLoadedWith(entry);
      for (const heavy of ['postgres', 'drizzle-orm', 'hono', 'jose'])
        expect([entry, loaded.has(heavy) && heavy]).toEqual([entry, false]);
    }
    expect(packagesLoadedWith('src/listen/run.ts')).toContain('undici');
  });

  test('no folder but that of the routes holds more than twenty files', () => {
    const counts = Map.groupBy(globSync('src/**/*.*', { cwd: root }), (file) => path.dirname(file));
    const large = [...counts].filter(([folder, held]) => held.length > 20 && folder !== 'src/http/routes');
    expect(large.map(([folder, held]) => `${folder}: ${held.length}`)).toEqual([]);
  });

  test('the top level holds what the customer listed, dotfiles, and nothing else', () => {
    const listed =
      'package.json package-lock.json tsconfig.json drizzle.config.ts src drizzle test Dockerfile README.md LICENSE';
    const allowed = new Set([...listed.split(' '), 'node_modules']);
    const found = globSync('*', { cwd: root });
    expect(found.filter((name) => !allowed.has(name) && !name.startsWith('.'))).toEqual([]);
  });
});
