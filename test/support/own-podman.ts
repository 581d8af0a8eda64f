/** Podman with a store, a network and settings of its own, on a host of its own (net-hosts.ts): nothing of this machine's is touched. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { makeHost, mayMakeHosts, type NetHost } from './net-hosts.ts';
import { isThere, run } from './snippets.ts';
import { makeTestFolder } from './test-folder.ts';

/** No more than a container that may not raise limits is allowed. */
const SETTINGS = (runtime: string) => `
[containers]
default_ulimits = ["nofile=1024:4096", "nproc=1024:4096"]
[engine]
runtime = "${runtime}"
cgroup_manager = "cgroupfs"
events_logger = "file"
`;

export interface Answered {
  readonly status: number;
  readonly body: unknown;
}

export interface OwnPodman {
  /** For what a test writes, and containers may mount. */
  readonly folder: string;
  podman(...args: string[]): Promise<string>;
  /** podman-compose, in {@link folder}. */
  compose(...args: string[]): Promise<string>;
  /** Asks from the containers' host, where their ports are published; null where nobody answers. */
  ask(url: string, init?: RequestInit): Promise<Answered | null>;
  remove(): Promise<void>;
}

const ASK = `
const [url, init] = JSON.parse(process.argv[1]);
const told = await fetch(url, init).then(async (answer) => ({ status: answer.status, body: await answer.json() }), () => null);
console.log(JSON.stringify(told));`;

/** Name spaces of processes and mounts. What runs and is mounted in them ends with this process, however that ends. */
export type Quarters = Awaited<ReturnType<typeof openQuarters>>;

const AS = 'setpriv';
const NAMESPACES = ['unshare', '--pid', '--fork', '--kill-child', '--mount', '--mount-proc'];

export async function openQuarters() {
  // A line tells that its mounts are made.
  const first = ['sh', '-c', 'echo; exec sleep infinity'];
  const holder = spawn(AS, ['--pdeathsig', 'KILL', '--', ...NAMESPACES, ...first], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const gone = once(holder, 'exit');
  await once(holder.stdout, 'data');
  const inside = readFileSync(`/proc/${holder.pid}/task/${holder.pid}/children`, 'utf8').trim();
  const prefix = ['nsenter', `--target=${inside}`, '--pid', '--mount'] as const;
  const folder = await makeTestFolder();
  const store = ['--root', path.join(folder.path, 'store'), '--runroot', path.join(folder.path, 'run')];
  const hasOverlay = await isThere([...prefix, 'buildah', '--storage-driver', 'overlay', ...store, 'info']);
  return {
    /** What stands before a command to run it there. */
    prefix,
    /** Of the images' store: `overlay`, or `vfs`, which copies each image for each container. */
    driver: hasOverlay ? 'overlay' : 'vfs',
    async end() {
      process.kill(Number(inside), 'SIGKILL');
      await gone;
      await folder.remove();
    },
  };
}

/** `storage` names the store that holds `image`. Null, with one plain line, where no container of it can be run. */
export async function openPodman(
  quarters: Quarters,
  storage: readonly string[],
  image: string,
): Promise<OwnPodman | null> {
  const folder = await makeTestFolder();
  const host = await makeHost(HOST);
  const remove = async (): Promise<void> => {
    await quarters.end();
    await host.remove();
    await folder.remove();
  };
  const failures: string[] = [];
  for (const runtime of ['crun', 'runc']) {
    const own = await withRuntime(folder.path, [quarters, host], storage, runtime);
    const tried = await own.podman('run', '--rm', '--memory', '64m', image, '--help').then(
      () => null,
      (error: Error) => error.message.trim().split('\n').at(-1) ?? '',
    );
    if (tried === null) return { ...own, remove };
    failures.push(tried);
  }
  console.info(`skipped: podman runs no container here: ${failures.join('; ')}`);
  await remove();
  return null;
}

/** Of the addresses that net-hosts.ts has; runs beside each other take different ones. */
const HOST = 100 + (process.pid % 100);

/** True where podman and podman-compose are installed; else says so in one plain line. */
export async function hasPodman(): Promise<boolean> {
  for (const program of ['podman', 'podman-compose']) {
    if (await isThere([program, '--version'])) continue;
    console.info(`skipped: ${program} is not installed, so the Compose file is not run`);
    return false;
  }
  return mayMakeHosts();
}

async function withRuntime(
  folder: string,
  [quarters, host]: readonly [Quarters, NetHost],
  storage: readonly string[],
  runtime: string,
) {
  const bin = path.join(folder, 'bin');
  await mkdir(bin, { recursive: true });
  await writeFile(path.join(folder, 'containers.conf'), SETTINGS(runtime));
  const places = ['--tmpdir', path.join(folder, 'tmp'), '--network-config-dir', path.join(folder, 'networks')];
  const program = (await run(['sh', '-c', 'command -v podman'], folder)).trim();
  const network = host.prefix.filter((word) => word.startsWith('--net='));
  const words = [...quarters.prefix, ...network, '--', program, ...storage, ...places]
    .map((word) => `'${word}'`)
    .join(' ');
  const script = `#!/bin/sh\nCONTAINERS_CONF='${folder}/containers.conf' exec ${words} "$@"\n`;
  await writeFile(path.join(bin, 'podman'), script);
  await chmod(path.join(bin, 'podman'), 0o755);
  const env = { PATH: `${bin}:${process.env['PATH']}` };
  const [enter = '', ...there] = host.prefix;
  return {
    folder,
    podman: (...args: string[]) => run([path.join(bin, 'podman'), ...args], folder),
    compose: (...args: string[]) => run(['podman-compose', ...args], folder, '', env),
    async ask(url: string, init: RequestInit = {}) {
      const command = [...there, process.execPath, '--input-type=module', '--eval', ASK, JSON.stringify([url, init])];
      return JSON.parse(await run([enter, ...command], folder)) as Answered | null;
    },
  };
}
