/** Programs of the READMEs, taken out of their page and run as they stand there, each in a folder of its own. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { makeTestFolder, type TestFolder } from './test-folder.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');

/** The fenced block of `page` (a path from the repository's root) whose first line names `file`. */
export async function snippet(file: string, page: string): Promise<string> {
  const block = new RegExp(`^\`\`\`\\w+ ${file.replace('.', '\\.')}\\n(.*?)^\`\`\``, 'ms').exec(
    await readFile(path.join(ROOT, page), 'utf8'),
  );
  if (block?.[1] === undefined) throw new Error(`${page} has no block ${file}`);
  return block[1];
}

/** `files` by their path in the folder. */
export async function folderWith(files: Readonly<Record<string, string>>): Promise<TestFolder> {
  const folder = await makeTestFolder();
  for (const [name, text] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(folder.path, name)), { recursive: true });
    await writeFile(path.join(folder.path, name), text);
  }
  return folder;
}

/** Runs a program to its end in `cwd` and returns what it printed. Throws when it fails. */
export async function run(
  command: readonly [string, ...string[]],
  cwd: string,
  input = '',
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const [program, ...args] = command;
  const child = spawn(program, args, { cwd, env: { ...process.env, ...env } });
  const said: string[] = [];
  const complained: string[] = [];
  child.stdout.setEncoding('utf8').on('data', (text: string) => said.push(text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => complained.push(text));
  // A program that exits without reading breaks the pipe; its exit code says more than that error.
  child.stdin.on('error', () => undefined).end(input);
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`${command.join(' ')} ended with ${code}: ${complained.join('')}`);
  return said.join('');
}

/** True when the program is on this machine and runs. */
export async function isThere(command: readonly [string, ...string[]]): Promise<boolean> {
  try {
    await run(command, tmpdir());
    return true;
  } catch {
    return false;
  }
}
