/** A command in a real pseudo-terminal, made by util-linux's `script` or Python's module `pty`. */
import { type ChildProcessWithoutNullStreams, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { metricsPortOf } from './command.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
/** The run's compiled modules. */
const COMPILED = process.env['NODE_COMPILE_CACHE'] ?? '';
/** Opens a pseudo-terminal around the shell command in its argument, and passes standard input on to it. */
type Opener = (command: string) => readonly [string, readonly string[]];

function findOpener(): Opener | null {
  const answers = (program: string, args: readonly string[], said: RegExp): boolean => {
    try {
      return said.test(execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }));
    } catch {
      return false;
    }
  };
  if (answers('script', ['--version'], /util-linux/)) {
    return (command) => ['script', ['--quiet', '--return', '--flush', '--command', command, '/dev/null']];
  }
  if (answers('python3', ['-c', 'import pty; print("pty")'], /pty/)) {
    const spawnIt = 'import pty, sys, os; sys.exit(os.waitstatus_to_exitcode(pty.spawn(["sh", "-c", sys.argv[1]])))';
    return (command) => ['python3', ['-c', spawnIt, command]];
  }
  return null;
}

/** Null where the system has neither program. */
export const terminalOpener = findOpener();

export interface Terminal {
  /** The terminal's output so far. */
  readonly shown: () => string;
  /** Resolves with the output as soon as it matches; rejects when the command ends first. */
  until(pattern: RegExp): Promise<string>;
  press(key: string): void;
  /** Closes the terminal's window: its processes get SIGHUP and can no longer write. */
  close(): Promise<void>;
  /** The exit code of the command. */
  readonly ended: Promise<number | null>;
}

export const CTRL_C = '\u0003';
export const CTRL_BACKSLASH = '\u001C';

/** A person's PATH: the system's npm and node come first, not those of the test run. */
function plainEnvironment(): Record<string, string> {
  const own = Object.entries(process.env).filter(([name]) => !/^(npm_|NODE|VITE|INIT_CWD)/i.test(name));
  const folders = (process.env['PATH'] ?? '')
    .split(path.delimiter)
    .filter((folder) => !folder.includes('node_modules'));
  return { ...(Object.fromEntries(own) as Record<string, string>), PATH: folders.join(path.delimiter) };
}

/**
 * Runs a command in a terminal, in the repository's folder. The command takes its shell's place: Ctrl-C is for every
 * process in front, and dash dies of it with 130 whatever its command answers.
 */
export function openTerminal(command: string, env: Readonly<Record<string, string>>): Terminal {
  if (terminalOpener === null) throw new Error('no terminal can be opened here');
  const [program, args] = terminalOpener(`exec ${command}`);
  const quiet = { npm_config_update_notifier: 'false', npm_config_loglevel: 'silent' };
  const child: ChildProcessWithoutNullStreams = spawn(program, args, {
    cwd: ROOT,
    env: {
      ...plainEnvironment(),
      SHELL: '/bin/sh',
      NODE_COMPILE_CACHE: COMPILED,
      ...quiet,
      ...metricsPortOf(command.split(' ')),
      ...env,
    },
  });
  let shown = '';
  const closed = once(child, 'close') as Promise<[number | null]>;
  child.stdout.setEncoding('utf8').on('data', (text: string) => (shown += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (shown += text));
  child.stdin.on('error', () => undefined);
  return {
    shown: () => shown,
    ended: closed.then(([code]) => code),
    async until(pattern) {
      for (;;) {
        if (pattern.test(shown)) return shown;
        const isGone = await Promise.race([once(child.stdout, 'data').then(() => false), closed.then(() => true)]);
        if (isGone && !pattern.test(shown)) throw new Error(`the command ended: ${shown}`);
      }
    },
    press: (key) => void child.stdin.write(key),
    async close() {
      child.kill('SIGKILL');
      await closed;
    },
  };
}
