/** `npm ci` on a machine whose Node is older than what the packages ask for, which README.md allows. */
import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { expect, test } from 'vitest';
import { makeTestFolder } from './support/test-folder.ts';

const ROOT = path.resolve(import.meta.dirname, '..');

test('an older Node is no page of warnings', async () => {
  const { path: cwd } = await makeTestFolder();
  for (const name of ['.npmrc', 'package-lock.json']) await copyFile(path.join(ROOT, name), path.join(cwd, name));
  const manifest = JSON.parse(await readFile(path.join(ROOT, 'package.json'), 'utf8')) as object;
  // As to a Node 20: the package asks for a newer one.
  await writeFile(path.join(cwd, 'package.json'), JSON.stringify({ ...manifest, engines: { node: '>=99' } }));
  const { status, stderr } = spawnSync('npm', ['ci', '--dry-run', '--ignore-scripts'], { cwd, encoding: 'utf8' });
  expect([status, stderr]).toEqual([0, '']);
});
