/** Receivers in other languages and frameworks, each started in a folder of its own and stopped with the test. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, symlink } from 'node:fs/promises';
import { connect } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { onTestFinished, type TestContext } from 'vitest';
import { freePorts } from './free-ports.ts';
import { folderWith, isThere, run } from './snippets.ts';

type Command = readonly [string, ...string[]];

export interface ReceiverProgram {
  readonly name: string;
  readonly version: Command;
  /** Names in the folder, each with the file of src/http/receivers that it is a copy of; other texts as they are. */
  readonly files: Readonly<Record<string, string | { readonly text: string }>>;
  /** Folders of this machine, by the name that each has in the folder. */
  readonly links?: Readonly<Record<string, string>>;
  readonly build?: Command;
  readonly command: (port: string) => Command;
  readonly route?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Changes a file's text on its way into the folder. */
  readonly plant?: (text: string, name: string) => string;
}

const FILES = path.resolve(import.meta.dirname, '../../src/http/receivers');

/** Starts it with the secrets in its environment, and answers the URL of its route once it listens; skips the test where it cannot run here. */
export async function startReceiverProgram(
  program: ReceiverProgram,
  secret: string,
  context: TestContext,
): Promise<string> {
  const { version, files, build, command, route = '/carteiro', plant = String, env: own } = program;
  if (!(await isThere(version))) context.skip(`there is no ${version.join(' ')} on this machine`);
  const texts = Object.entries(files).map(async ([name, of]) => {
    const text = typeof of === 'string' ? await readFile(path.join(FILES, of), 'utf8') : of.text;
    return [name, plant(text, name)] as const;
  });
  const { path: cwd } = await folderWith(Object.fromEntries(await Promise.all(texts)));
  for (const [name, of] of Object.entries(program.links ?? {})) await symlink(of, path.join(cwd, name));
  if (build !== undefined) await run(build, cwd);
  const [port = 0] = await freePorts(1);
  const [name, ...args] = command(String(port));
  const env = { ...process.env, PORT: String(port), CARTEIRO_SECRETS: secret, ...own };
  const child = spawn(name, args, { cwd, env, stdio: ['ignore', 'ignore', 'pipe'] });
  const said: string[] = [];
  child.stderr.setEncoding('utf8').on('data', (text: string) => void said.push(text));
  onTestFinished(() => void child.kill());
  while (!(await isOpen(port))) {
    if (child.exitCode !== null) throw new Error(`${program.name} ended with ${child.exitCode}: ${said.join('')}`);
    await sleep(50);
  }
  return `http://127.0.0.1:${port}${route}`;
}

async function isOpen(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  const opened = await once(socket, 'connect').then(
    () => true,
    () => false,
  );
  socket.destroy();
  return opened;
}
