/** The house's one rule about imports: lower ranks, or your own folder. */
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

const root = path.resolve(import.meta.dirname, '..');

/** Lowest first. A folder may import a lower rank and itself; `core` also may import `log`, `webhooks` and `registry`. */
const RANKS: readonly (readonly string[])[] = [
  ['contract', 'config.ts', 'log-lines.ts', 'key-file.ts', 'version.ts'],
  ['loan', 'delivery (pure)', 'metrics.ts'],
  ['db'],
  ['log', 'webhooks', 'registry', 'core', 'delivery', 'audit'],
  ['http'],
  ['console', 'demo'],
  ['main.ts', 'main'],
];
const PURE_DELIVERY = new Set(['schedule.ts', 'signature.ts', 'target.ts', 'addresses.ts', 'answer-text.ts']);
const SAME_RANK_ALLOWED = new Set(['main.ts → main', 'core → log', 'core → registry', 'core → webhooks']);

function roomOf(file: string): string {
  const [first = '', second = ''] = path.relative(path.join(root, 'src'), file).split(path.sep);
  return first === 'delivery' && PURE_DELIVERY.has(second) ? 'delivery (pure)' : first;
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

function violation(file: string, imported: string): string | null {
  const [from, to] = [roomOf(file), roomOf(imported)];
  const said = `${path.relative(root, file)} imports ${path.relative(root, imported)}`;
  if (to === 'config.ts' && rankOf(from) < rankOf('main.ts')) return `${said}: only main imports config`;
  if (from === to || rankOf(to) < rankOf(from) || SAME_RANK_ALLOWED.has(`${from} → ${to}`)) return null;
  return `${said}: ${from} may not import ${to}`;
}

describe('the ranks of the house', () => {
  const files = globSync('src/**/*.ts', { cwd: root }).map((file) => path.join(root, file));

  test('every import goes to a lower rank or stays in its own folder', () => {
    const violations = files.flatMap((file) => importsOf(file).map((imported) => violation(file, imported)));
    expect(violations.filter((found) => found !== null)).toEqual([]);
  });

  test('the check sees an import that climbs', () => {
    const climbing = violation(path.join(root, 'src/delivery/claim.ts'), path.join(root, 'src/http/app.ts'));
    expect(climbing).toContain('delivery may not import http');
  });

  test('the top level holds what the customer listed, dotfiles, and nothing else', () => {
    const listed =
      'package.json package-lock.json tsconfig.json drizzle.config.ts src drizzle test Dockerfile README.md LICENSE';
    const allowed = new Set([...listed.split(' '), 'node_modules']);
    const found = globSync('*', { cwd: root });
    expect(found.filter((name) => !allowed.has(name) && !name.startsWith('.'))).toEqual([]);
  });
});
