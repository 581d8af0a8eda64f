/**
 * Where no registry can be reached: a base image's root, made of this machine's own Node, npm, shell and file tools with the
 * libraries that they load. What is built on it shows that each instruction works; the base's size and patches it does not.
 */
import { cp, mkdir, readFile, realpath, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { run } from './snippets.ts';

const PROGRAMS = ['/bin/sh', '/bin/mkdir', '/bin/chown', '/usr/bin/env', '/usr/bin/find'];

async function copy(file: string, root: string, as = file): Promise<void> {
  await cp(await realpath(file), path.join(root, as));
}

/** The libraries that a program loads, its loader among them. */
async function librariesOf(program: string): Promise<string[]> {
  const listed = await run(['ldd', program], '/');
  return [...listed.matchAll(/(\/\S+) \(0x/g)].map(([, file]) => file ?? '');
}

/** Fills the folder `root`, which must be empty. `npm` is the folder of npm's package. */
export async function makeStandInBase(root: string, npm: string): Promise<void> {
  for (const folder of ['bin', 'etc', 'tmp', 'proc', 'dev', 'usr/bin', 'usr/local/bin', 'usr/local/lib/node_modules']) {
    await mkdir(path.join(root, folder), { recursive: true });
  }
  for (const program of PROGRAMS) await copy(program, root);
  await copy(process.execPath, root, '/usr/local/bin/node');
  const libraries = new Set((await Promise.all([...PROGRAMS, process.execPath].map(librariesOf))).flat());
  for (const library of libraries) await copy(library, root);
  await cp(npm, path.join(root, 'usr/local/lib/node_modules/npm'), { recursive: true, dereference: true });
  await symlink('../lib/node_modules/npm/bin/npm-cli.js', path.join(root, 'usr/local/bin/npm'));
  await writeFile(path.join(root, 'etc/passwd'), 'root:x:0:0::/root:/bin/sh\nnode:x:1000:1000::/tmp:/bin/sh\n');
  await writeFile(path.join(root, 'etc/hosts'), await readFile('/etc/hosts'));
}
