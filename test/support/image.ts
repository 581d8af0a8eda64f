/** The image of the Dockerfile, built with buildah, and its processes: each process 1, read-only, as the image's user. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { isThere, run } from './snippets.ts';
import { makeStandInBase } from './stand-in-base.ts';
import { makeTestFolder } from './test-folder.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
const STAND_IN = 'localhost/carteiro-stand-in';

/** What the image says of itself, in Docker's words. */
export interface ImageConfig {
  readonly User: string;
  readonly Env: readonly string[];
  readonly Entrypoint: readonly string[];
  readonly Cmd: readonly string[];
  readonly WorkingDir: string;
  readonly StopSignal: string;
  readonly ExposedPorts: Readonly<Record<string, object>>;
  readonly Healthcheck: { readonly Test: readonly string[] };
}

export interface Built {
  readonly name: string;
  readonly config: ImageConfig;
  /** The digests of its layers, the base's first. */
  readonly layers: readonly string[];
}

export interface Image extends Built {
  /** Its root, as a folder of this machine. */
  readonly root: string;
}

/**
 * Null with a plain line where this machine cannot build or run an image. Layers that are mounted must go with the run, so
 * another driver than `vfs` needs a mount name space that goes with it, which the words of `within` enter.
 */
export async function openBuilder(driver = 'vfs', within: readonly string[] = []) {
  const needs = [
    ['buildah', '--version'],
    ['unshare', '--pid', '--fork', '--mount', 'true'],
  ] as const;
  for (const command of needs) {
    if (process.platform === 'linux' && process.getuid?.() === 0 && (await isThere([...command]))) continue;
    console.info(`skipped: \`${command.join(' ')}\` does not run here as root, so no image is built`);
    return null;
  }
  const folder = await makeTestFolder();
  const at = (name: string) => path.join(folder.path, name);
  const storage = ['--storage-driver', driver, '--root', at('store'), '--runroot', at('run')];
  const [program = '', ...words] = [...within, 'buildah', ...storage];
  const buildah = (...args: string[]) => run([program, ...words, ...args], ROOT);
  const base = await chooseBase(buildah, at('base'));
  const mounts = await npmMounts(at('npmrc'));

  return {
    /** Where the images are, in the words of buildah and podman. */
    storage,
    /** Builds it anew, with every time stamp at 0. */
    async build(name: string): Promise<Built> {
      const how = ['--isolation', 'chroot', '--format', 'docker', '--timestamp', '0', '--no-cache', '--pull-never'];
      await buildah('build', ...how, '--build-arg', `NODE_IMAGE=${base}`, ...mounts, '--tag', name, ROOT);
      const { OCIv1, Docker } = JSON.parse(await buildah('inspect', '--type', 'image', name)) as {
        OCIv1: { rootfs: { diff_ids: string[] } };
        Docker: { config: ImageConfig };
      };
      return { name, config: Docker.config, layers: OCIv1.rootfs.diff_ids };
    },
    async open(built: Built): Promise<Image> {
      const container = (await buildah('from', '--pull-never', built.name)).trim();
      return { ...built, root: (await buildah('mount', container)).trim() };
    },
    remove: () => folder.remove(),
  };
}

type Buildah = (...args: string[]) => Promise<string>;

/** The Dockerfile's own base, or a stand-in where it cannot be pulled. */
async function chooseBase(buildah: Buildah, folder: string): Promise<string> {
  const [, named = ''] = /^ARG NODE_IMAGE=(\S+)$/m.exec(await readFile(path.join(ROOT, 'Dockerfile'), 'utf8')) ?? [];
  const isPulled = await buildah('pull', '--quiet', named).then(
    () => true,
    () => false,
  );
  if (isPulled) return named;
  console.info(`${named} cannot be pulled: the image is built on a stand-in made of this machine's Node`);
  await mkdir(folder);
  await makeStandInBase(folder, (await run(['npm', 'root', '--global'], ROOT)).trim() + '/npm');
  const container = (await buildah('from', 'scratch')).trim();
  await buildah('copy', '--quiet', container, folder, '/');
  await buildah('config', '--env', 'PATH=/usr/local/bin:/usr/bin:/bin', container);
  await buildah('commit', '--quiet', '--timestamp', '0', container, STAND_IN);
  return STAND_IN;
}

/** What npm has fetched before, and the authorities that this machine's Node trusts, for the build alone. */
async function npmMounts(npmrc: string): Promise<string[]> {
  const authorities = process.env['NODE_EXTRA_CA_CERTS'];
  const cache = (await run(['npm', 'config', 'get', 'cache'], ROOT)).trim();
  await mkdir(cache, { recursive: true });
  await writeFile(npmrc, ['prefer-offline=true', ...(authorities ? ['cafile=/run/authorities.pem'] : [])].join('\n'));
  const mounts = [`${cache}:/root/.npm`, `${npmrc}:/root/.npmrc:ro`];
  if (authorities) mounts.push(`${authorities}:/run/authorities.pem:ro`);
  return mounts.flatMap((mount) => ['--volume', mount]);
}

const NAMESPACES = 'unshare';
/** Process 1 of its own name space, on a read-only root, as the image's user. */
const ENTER =
  'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && ' +
  'exec unshare --root="$0" --wd="$1" --setgid "$2" --setuid "$3" -- "${@:4}"';

/** Runs `command` in the image, by default its entry point with `args`; the environment is the image's and `env`. */
export function startInImage(
  { root, config }: Image,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  command = config.Entrypoint,
) {
  const [uid = '', gid = ''] = config.User.split(':');
  const inner = ['bash', '-c', ENTER, root, config.WorkingDir, gid, uid, ...command, ...args];
  const child = spawn(NAMESPACES, ['--pid', '--fork', '--kill-child', '--mount', ...inner], {
    env: {
      ...Object.fromEntries(config.Env.map((pair) => pair.split(/=(.*)/s).slice(0, 2) as [string, string])),
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const closed = once(child, 'close') as Promise<[number | null]>;
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  const inside = () => {
    const children = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim();
    return Number(children.split(' ')[0]);
  };
  return {
    /** On this machine; in its own name space it is 1. */
    pid: inside,
    /** Resolves when its output has this. */
    async log(pattern: RegExp) {
      while (!pattern.test(output)) {
        const isGone = await Promise.race([once(child.stderr, 'data').then(() => false), closed.then(() => true)]);
        if (isGone && !pattern.test(output)) throw new Error(`the process ended: ${output}`);
      }
      return output;
    },
    async end(signal?: NodeJS.Signals) {
      if (signal) process.kill(inside(), signal);
      const [code] = await closed;
      return { code, output };
    },
  };
}
