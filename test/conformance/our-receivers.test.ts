/** No check fails on a receiver that partners copy, run as it stands, nor on Debian's `webhook` (apt-get install webhook). */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { HEADER_SIGNATURE } from '../../src/contract/delivery.ts';
import { checksOf, failed, SECRET } from '../support/conformance.ts';
import { freePorts } from '../support/free-ports.ts';
import { folderWith, isThere, run } from '../support/snippets.ts';

interface Program {
  readonly name: string;
  readonly version: readonly [string, ...string[]];
  /** Names in the folder, each with the file of src/http/receivers that it is a copy of; other texts as they are. */
  readonly files: Readonly<Record<string, string | { readonly text: string }>>;
  readonly build?: readonly [string, ...string[]];
  readonly command: (port: string) => readonly [string, ...string[]];
  readonly route?: string;
}

const HOOK = {
  id: 'carteiro',
  'execute-command': '/bin/true',
  'trigger-rule': {
    match: { type: 'payload-hmac-sha256', secret: SECRET, parameter: { source: 'header', name: HEADER_SIGNATURE } },
  },
  'trigger-signature-soft-failures': true,
  'trigger-rule-mismatch-http-response-code': 403,
};

const PROGRAMS: readonly Program[] = [
  {
    name: 'Node',
    version: [process.execPath, '--version'],
    files: { 'carteiro.ts': 'carteiro.ts', 'receiver.mjs': 'receiver.mjs' },
    command: () => [process.execPath, 'receiver.mjs'],
  },
  {
    name: 'Python',
    version: ['python3', '--version'],
    files: { 'carteiro.py': 'carteiro.py', 'receiver.py': 'receiver.py' },
    command: () => ['python3', 'receiver.py'],
  },
  {
    name: 'Java',
    version: ['javac', '-version'],
    files: { 'Carteiro.java': 'Carteiro.java', 'Receiver.java': 'Receiver.java' },
    build: ['javac', '-encoding', 'UTF-8', 'Carteiro.java', 'Receiver.java'],
    command: () => ['java', '-cp', '.', 'Receiver'],
  },
  {
    name: 'Go',
    version: ['go', 'version'],
    files: {
      'go.mod': { text: 'module receiver\n\ngo 1.20\n' },
      'carteiro/carteiro.go': 'carteiro.go',
      'main.go': 'main.go',
    },
    build: ['go', 'build', '-o', 'receiver', '.'],
    command: () => ['./receiver'],
  },
  {
    name: 'PHP',
    version: ['php', '--version'],
    files: { 'carteiro.php': 'carteiro.php', 'receiver.php': 'receiver.php' },
    command: (port) => ['php', '-S', `127.0.0.1:${port}`, 'receiver.php'],
  },
  {
    name: 'Ruby',
    version: ['ruby', '--version'],
    files: { 'carteiro.rb': 'carteiro.rb', 'receiver.rb': 'receiver.rb' },
    command: () => ['ruby', 'receiver.rb'],
  },
  {
    name: 'C#',
    version: ['mcs', '--version'],
    files: { 'Carteiro.cs': 'Carteiro.cs', 'Receiver.cs': 'Receiver.cs' },
    build: ['mcs', '-out:receiver.exe', 'Carteiro.cs', 'Receiver.cs'],
    command: () => ['mono', 'receiver.exe'],
  },
  {
    name: 'webhook of Debian',
    version: ['webhook', '-version'],
    files: { 'hooks.json': { text: JSON.stringify([HOOK]) } },
    command: (port) => ['webhook', '-hooks', 'hooks.json', '-ip', '127.0.0.1', '-port', port],
    route: '/hooks/carteiro',
  },
];

const FILES = path.resolve(import.meta.dirname, '../../src/http/receivers');

test.for(PROGRAMS)('$name', async ({ version, files, build, command, route = '/carteiro' }, context) => {
  if (!(await isThere(version))) context.skip(`there is no ${version[0]} on this machine`);
  const texts = Object.entries(files).map(
    async ([name, of]) =>
      [name, typeof of === 'string' ? await readFile(path.join(FILES, of), 'utf8') : of.text] as const,
  );
  const { path: cwd } = await folderWith(Object.fromEntries(await Promise.all(texts)));
  if (build !== undefined) await run(build, cwd);
  const [port = 0] = await freePorts(1);
  const [program, ...args] = command(String(port));
  const env = { ...process.env, PORT: String(port), CARTEIRO_SECRETS: SECRET };
  const child = spawn(program, args, { cwd, env, stdio: 'ignore' });
  onTestFinished(() => void child.kill());
  while (!(await isOpen(port))) await sleep(50);
  expect(failed(await checksOf({ url: `http://127.0.0.1:${port}${route}` }))).toEqual([]);
});

async function isOpen(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  const opened = await once(socket, 'connect').then(
    () => true,
    () => false,
  );
  socket.destroy();
  return opened;
}
