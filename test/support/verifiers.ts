/** The verifiers that partners copy (src/http/receivers), each run on the same cases in its own language. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { verify, verifyBody, verifyCheckpoint } from '../../src/http/receivers/carteiro.ts';
import { folderWith, isThere, run } from './snippets.ts';

const FILES = path.resolve(import.meta.dirname, '../../src/http/receivers');
const HARNESSES = path.resolve(import.meta.dirname, '../http/receivers');

export interface VerifierCase {
  /** `verify` reads the Standard Webhooks headers at `now`, `verifyBody` the contract's. */
  readonly function: 'verify' | 'verifyBody';
  readonly secrets: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** The receiver's clock, in seconds since 1970. */
  readonly now: number;
}

/** Of `verifyCheckpoint`. */
export interface CheckpointCase {
  readonly function: 'verifyCheckpoint';
  readonly keys: readonly string[];
  /** The header's value; empty for a delivery without it. */
  readonly header: string;
  readonly kept: string;
  readonly api: string;
  readonly now: number;
}

/** True or false of a signature; of a checkpoint the verdict, and the line to keep. */
type VerifierAnswer = boolean | [verdict: string, keep: string];

export interface Verifier {
  readonly name: string;
  /** What this machine lacks to run it. */
  readonly missing: string | null;
  /** Whether it has `verifyCheckpoint`, too. */
  readonly readsCheckpoints: boolean;
  readonly answer: (cases: readonly (VerifierCase | CheckpointCase)[]) => Promise<VerifierAnswer[]>;
}

async function answerInNode(asked: VerifierCase | CheckpointCase): Promise<VerifierAnswer> {
  if (asked.function === 'verifyCheckpoint') {
    const { verdict, keep } = await verifyCheckpoint(asked.header, asked.keys, asked.kept, asked.api, asked.now);
    return [verdict, keep];
  }
  const { function: which, secrets, headers, body, now } = asked;
  const lower = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  return which === 'verify' ? verify(body, lower, secrets, now) : verifyBody(body, lower, secrets);
}

interface Language {
  readonly name: string;
  readonly version: readonly [string, ...string[]];
  readonly readsCheckpoints?: boolean;
  /** Names in the folder that it is run in, with the file that each is a copy of. */
  readonly files: Readonly<Record<string, string>>;
  readonly build?: readonly [string, ...string[]];
  readonly command: readonly [string, ...string[]];
}

/**
 * The program reads one case a line, its parts separated by tabs: function, now, secrets separated by commas, body in
 * base64, then `name=value` for each header. It prints `true` or `false` a line. Of a checkpoint the API's URL stands behind now, the
 * keys for the secrets and the kept line for the body; it prints an array of verdict and line.
 */
async function inLanguage({
  name,
  version,
  readsCheckpoints = true,
  files,
  build,
  command,
}: Language): Promise<Verifier> {
  const missing = (await isThere(version)) ? null : version[0];
  const contents = Object.entries(files).map(async ([copy, file]) => [copy, await readFile(file, 'utf8')] as const);
  const folder = await folderWith(Object.fromEntries(await Promise.all(contents)));
  if (missing === null && build !== undefined) await run(build, folder.path);
  return {
    name,
    missing,
    readsCheckpoints,
    async answer(cases) {
      const printed = await run(command, folder.path, `${cases.map(lineOf).join('\n')}\n`);
      const lines = printed.trim().split('\n');
      return lines.map((line) => JSON.parse(line) as VerifierAnswer);
    },
  };
}

function lineOf(asked: VerifierCase | CheckpointCase): string {
  if (asked.function === 'verifyCheckpoint') {
    const { keys, header, kept, api, now } = asked;
    const given = header === '' ? [] : [`X-Carteiro-Checkpoint=${header}`];
    return ['verifyCheckpoint', `${now} ${api}`, keys.join(','), Buffer.from(kept).toString('base64'), ...given].join(
      '\t',
    );
  }
  const { function: which, now, secrets, headers, body } = asked;
  const given = Object.entries(headers).map(([name, value]) => `${name}=${value}`);
  return [which, now, secrets.join(','), Buffer.from(body).toString('base64'), ...given].join('\t');
}

/** Each built once; the folders go with the file that asks for them. */
export const prepareVerifiers = (): Promise<Verifier[]> =>
  Promise.all([
    Promise.resolve<Verifier>({
      name: 'Node',
      missing: null,
      readsCheckpoints: true,
      answer: (cases) => Promise.all(cases.map(answerInNode)),
    }),
    inLanguage({
      name: 'Python',
      version: ['python3', '--version'],
      files: { 'carteiro.py': path.join(FILES, 'carteiro.py'), 'main.py': path.join(HARNESSES, 'main.py') },
      command: ['python3', 'main.py'],
    }),
    inLanguage({
      name: 'Java',
      version: ['javac', '-version'],
      files: { 'Carteiro.java': path.join(FILES, 'Carteiro.java'), 'Main.java': path.join(HARNESSES, 'Main.java') },
      build: ['javac', '-encoding', 'UTF-8', 'Carteiro.java', 'Main.java'],
      command: ['java', '-cp', '.', 'Main'],
    }),
    inLanguage({
      name: 'Go',
      version: ['go', 'version'],
      files: {
        'go.mod': path.join(HARNESSES, 'go.mod.txt'),
        'carteiro/carteiro.go': path.join(FILES, 'carteiro.go'),
        'main.go': path.join(HARNESSES, 'main.go'),
      },
      build: ['go', 'build', '-o', 'verifier', '.'],
      command: ['./verifier'],
    }),
    inLanguage({
      name: 'PHP',
      version: ['php', '--version'],
      readsCheckpoints: false,
      files: { 'carteiro.php': path.join(FILES, 'carteiro.php'), 'main.php': path.join(HARNESSES, 'main.php') },
      command: ['php', 'main.php'],
    }),
    inLanguage({
      name: 'Ruby',
      version: ['ruby', '--version'],
      readsCheckpoints: false,
      files: { 'carteiro.rb': path.join(FILES, 'carteiro.rb'), 'main.rb': path.join(HARNESSES, 'main.rb') },
      command: ['ruby', 'main.rb'],
    }),
    inLanguage({
      name: 'C#',
      version: ['mcs', '--version'],
      readsCheckpoints: false,
      files: { 'Carteiro.cs': path.join(FILES, 'Carteiro.cs'), 'Main.cs': path.join(HARNESSES, 'Main.cs') },
      build: ['mcs', '-out:verifier.exe', 'Carteiro.cs', 'Main.cs'],
      command: ['mono', 'verifier.exe'],
    }),
  ]);
