/** Every command is described as a manual is, named where operators read, and loaded only when it is called. */
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Command } from 'commander';
import { expect, test } from 'vitest';
import type { CommandLine } from '../../src/main/command.ts';
import { addCommands } from '../../src/main/command-list.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
const LINE: CommandLine = {
  configure: () => {
    throw new Error('not called');
  },
  print: () => undefined,
};

/** What `words` make of the command line: each command by its name. */
async function commandsOf(...words: string[]): Promise<Map<string, Command>> {
  const program = new Command('carteiro');
  await addCommands(program, LINE, words);
  const found = new Map<string, Command>();
  for (const one of program.commands) {
    if (one.commands.length === 0 || one.registeredArguments.length > 0) found.set(one.name(), one);
    for (const own of one.commands) found.set(`${one.name()} ${own.name()}`, own);
  }
  return found;
}

function helpOf(command: Command): string {
  let text = '';
  command.configureOutput({ writeOut: (part) => (text += part) }).outputHelp();
  return text;
}

/** Static imports alone, of this file and of what it imports. */
function importedBy(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return seen;
  seen.add(file);
  if (!file.startsWith('/')) return seen;
  for (const [, statement = '', name = ''] of readFileSync(file, 'utf8').matchAll(
    /^(import|export)\b(?! type)[^;]*?from '([^']+)'/gm,
  )) {
    if (statement) importedBy(name.startsWith('.') ? path.resolve(path.dirname(file), name) : name, seen);
  }
  return seen;
}

test('each command has a summary, a help with its output and exit codes, and a place in a README', async () => {
  const pages = globSync(['README.md', 'src/**/README.md'], { cwd: ROOT })
    .map((page) => readFileSync(path.join(ROOT, page), 'utf8'))
    .join('\n');
  const all = await commandsOf();
  expect(all.size).toBeGreaterThan(30);
  for (const [name, command] of all) {
    expect([name, command.description()]).toEqual([name, expect.stringMatching(/^[a-z].{10,}[^.]$/)]);
    expect([name, helpOf(command)]).toEqual([
      name,
      expect.stringMatching(/\n\nExit code: 0 {2}\S[^]*\n {11}1 {2}[^]*\n {11}2 {2}/),
    ]);
    expect([name, /\nOutput: /.test(helpOf(command))]).toEqual([
      name,
      !['start', 'api', 'poll', 'registry serve'].includes(name),
    ]);
    expect([name, pages.includes(`\`${name}`)]).toEqual([name, true]);
  }
});

test('a call loads its own command alone; help loads all', async () => {
  expect([...(await commandsOf('webhook', 'mute', 'x')).keys()]).toEqual(['webhook mute']);
  expect([...(await commandsOf('poll')).keys()]).toEqual(['poll']);
  expect((await commandsOf('poll', '--help')).size).toBe((await commandsOf('nonsense')).size);
});

test('poll imports no HTTP server and no drizzle, nor does any command before it runs', () => {
  const heavy = /^(hono|@hono|drizzle-orm|jose|undici)|src\/(http|core\/(create|handle))/;
  for (const file of globSync('src/main/commands/**/*.ts', { cwd: ROOT })) {
    const loaded = [...importedBy(path.join(ROOT, file))].filter((name) => heavy.test(name.replace(`${ROOT}/`, '')));
    expect([file, loaded]).toEqual([file, []]);
  }
  const poller = [...importedBy(path.join(ROOT, 'src/main/service/serve.ts'))].filter((name) =>
    /^(hono|@hono|drizzle-orm|jose)/.test(name),
  );
  expect(poller).toEqual([]);
  expect(importedBy(path.join(ROOT, 'src/http/app.ts'))).toContain('hono');
});
