/** The real command line: in separate processes, or one command after the other in this one. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { runCommandLine } from '../../src/main/run.ts';
import { endOf } from './ends.ts';

const MAIN = path.resolve(import.meta.dirname, '../../src/main.ts');

/** Kills the processes of a test that failed. */
const living = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of living) child.kill('SIGKILL');
});

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunningCommand {
  readonly pid: number;
  /** Resolves with standard output so far as soon as it matches; rejects when the process ends first. */
  output(pattern: RegExp): Promise<string>;
  /** The same for standard error. */
  log(pattern: RegExp): Promise<string>;
  /** Standard error so far. */
  logged(): string;
  /** Sends a signal, if given, and resolves when the process is gone. */
  end(signal?: NodeJS.Signals): Promise<Finished>;
}

/** The run's compiled modules: a command that loads them starts in half the time. */
const COMPILED = process.env['NODE_COMPILE_CACHE'] ?? '';

type Environment = Readonly<Record<string, string>>;

/** Starts `carteiro` with these arguments, or another release's `main`. */
export function startCommand(args: readonly string[], env: Environment = {}, main = MAIN): RunningCommand {
  return startProgram([process.execPath, main, ...args], env);
}

const BEGUN = {
  api: /"url":"([^"]+)","msg":"the API listens"/,
  poll: /"url":"([^"]+)","msg":"metrics are served"[^]*the poller delivers/,
} as const;

/** Starts `api`, and resolves when it listens; or `poll`, when it delivers. `url` is the API's, or of the poller's metrics. */
export async function startServing(
  role: keyof typeof BEGUN,
  env: Environment,
  main = MAIN,
): Promise<RunningCommand & { readonly url: string }> {
  const running = startCommand([role], env, main);
  const [, url = ''] = BEGUN[role].exec(await running.log(BEGUN[role])) ?? [];
  return { ...running, url };
}

/** The key of a sandbox's signing secrets, in which those of `insertEncryptedWebhook` are. */
export const SANDBOX_KEY = Buffer.alloc(32, 7);

/** What a service of a sandbox on this database is started with. */
export const sandboxOn = (url: string, more: Environment = {}): Record<string, string> => ({
  DATABASE_URL: url,
  SANDBOX: 'true',
  ALLOW_INSECURE_TARGETS: 'true',
  SECRETS_KEY: SANDBOX_KEY.toString('base64'),
  PORT: '0',
  ...more,
});

/** A free METRICS_PORT for a poller; an API given one serves /metrics there and not beside its routes. */
export const metricsPortOf = (words: readonly string[]): Environment =>
  words.some((word) => word === 'api' || word === 'start') ? {} : { METRICS_PORT: '0' };

/**
 * Starts a program, which is killed with the test or the file if it lives then; of the environment it gets `env`, PATH, the
 * compile cache and, but for an API, a free METRICS_PORT.
 */
export function startProgram([program = '', ...args]: readonly string[], env: Environment): RunningCommand {
  const child = spawn(program, args, {
    env: { PATH: process.env['PATH'], NODE_COMPILE_CACHE: COMPILED, ...metricsPortOf(args), ...env },
  });
  const closed = once(child, 'close') as Promise<[number | null]>;
  living.add(child);
  void closed.then(() => living.delete(child));
  endOf(() => {
    child.kill('SIGKILL');
    return closed;
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const until = async (stream: Readable, read: () => string, pattern: RegExp): Promise<string> => {
    while (!pattern.test(read())) {
      const isGone = await Promise.race([once(stream, 'data').then(() => false), closed.then(() => true)]);
      if (isGone && !pattern.test(read())) throw new Error(`the command ended: ${stdout}${stderr}`);
    }
    return read();
  };
  return {
    pid: child.pid ?? -1,
    output: (pattern) => until(child.stdout, () => stdout, pattern),
    log: (pattern) => until(child.stderr, () => stderr, pattern),
    logged: () => stderr,
    async end(signal) {
      if (signal) child.kill(signal);
      const [code] = await closed;
      return { code, stdout, stderr };
    },
  };
}

/** Runs a command to its end. */
export async function runCommand(args: readonly string[], env: Environment = {}): Promise<Finished> {
  return startCommand(args, env).end();
}

let poll: Promise<unknown> = Promise.resolve();

/**
 * Runs a command to its end within this process, which spares its start: for what is neither killed nor asked how it begins. One
 * at a time; what it logs by itself (pino) goes to this process's own standard error.
 */
export function callCommand(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Finished> {
  const result = poll.then(() => callNow(args, { METRICS_PORT: '0', ...env }));
  poll = result.catch(() => undefined);
  return result;
}

async function callNow(args: readonly string[], env: Readonly<Record<string, string>>): Promise<Finished> {
  const kept = { env: process.env, stdout: process.stdout.write, stderr: process.stderr.write, code: process.exitCode };
  const written = { stdout: '', stderr: '' };
  const into = (stream: keyof typeof written) => (text: string | Uint8Array) => {
    written[stream] += Buffer.from(text as Uint8Array).toString();
    return true;
  };
  process.env = { PATH: process.env['PATH'], ...env };
  process.stdout.write = into('stdout');
  process.stderr.write = into('stderr');
  try {
    await runCommandLine(args);
    return { code: Number(process.exitCode ?? 0), ...written };
  } finally {
    process.env = kept.env;
    process.stdout.write = kept.stdout;
    process.stderr.write = kept.stderr;
    process.exitCode = kept.code;
  }
}
