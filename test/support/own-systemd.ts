/**
 * A systemd that is process 1 of name spaces of its own, with this machine's /usr, network and cgroups. It knows the units
 * of its /etc alone, so nothing of this machine is started or set. It dies with this process.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { copyFile, mkdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { isThere, run } from './snippets.ts';
import { makeTestFolder, type TestFolder } from './test-folder.ts';

const AS = 'setpriv';
/** Dies with this process, however that ends. */
const NAMESPACES = ['--pdeathsig', 'KILL', '--', 'unshare', '--pid', '--ipc', '--uts', '--fork', '--kill-child', '--'];
const UNITS = '/etc/systemd/system';
const JOURNAL = ['systemd-journald.service', 'systemd-journald.socket', 'systemd-journald-dev-log.socket'];
/** The targets that units name, each with nothing of its own. */
const TARGETS: Readonly<Record<string, string>> = {
  'sysinit.target': '[Unit]\nDefaultDependencies=no\nWants=systemd-journald.service\n',
  'basic.target': '[Unit]\nDefaultDependencies=no\nRequires=sysinit.target\nAfter=sysinit.target\n',
  'multi-user.target': '[Unit]\nRequires=basic.target\nAfter=basic.target\n',
  'network-online.target': '[Unit]\nDefaultDependencies=no\n',
  'shutdown.target': '[Unit]\nDefaultDependencies=no\n',
};
const DEVICES = 'null:1:3 zero:1:5 full:1:7 random:1:8 urandom:1:9 tty:5:0';
/** Where it takes longer, nothing is tested. */
const BOOT_MS = 60_000;
const CONTROLLERS = 'systemd memory pids';

/** `$0` is the root, `$1` the cgroup's name, `$2` this machine's Node, `$3` the folder of the product. */
const BOOT = `
set -e
cd /sys/fs/cgroup
if [ -f cgroup.controllers ]; then groups=.; else groups='${CONTROLLERS}'; fi
for group in $groups; do mkdir -p $group/$1; echo 0 > $group/$1/cgroup.procs; done
exec unshare --cgroup --mount -- sh -c '
set -e
mount --bind "$0" "$0" && cd "$0"
mount --rbind /usr usr && mount --bind "$2" usr/bin/node
for entry in "$3"/*; do
  own=opt/carteiro/\${entry##*/}
  if [ -d "$entry" ]; then mkdir "$own"; else touch "$own"; fi
  mount --bind "$entry" "$own"
done
mount -t proc proc proc && mount -o bind,ro /proc/sys proc/sys && mount -t sysfs -o ro sysfs sys
mount -t tmpfs tmpfs run && mount -t tmpfs tmpfs tmp && mount -t tmpfs -o mode=755 tmpfs dev
for device in ${DEVICES}; do
  name=\${device%%:*}; numbers=\${device#*:}; mknod -m 666 dev/$name c \${numbers%:*} \${numbers#*:}
done
mkdir dev/shm dev/pts dev/mqueue dev/hugepages && ln -s /proc/self/fd dev/fd
mount -t devpts -o newinstance,ptmxmode=0666 devpts dev/pts && ln -s pts/ptmx dev/ptmx
if [ "$4" = . ]; then mount -t cgroup2 cgroup sys/fs/cgroup; else
  mount -t tmpfs tmpfs sys/fs/cgroup
  for group in $4; do
    mkdir sys/fs/cgroup/$group; options=$group; [ $group = systemd ] && options=none,name=systemd
    mount -t cgroup -o $options cgroup sys/fs/cgroup/$group
  done
fi
exec chroot . /usr/bin/env -i container=test PATH=/usr/sbin:/usr/bin SYSTEMD_UNIT_PATH=${UNITS} \\
  /lib/systemd/systemd --system --unit=multi-user.target --log-target=null --show-status=no
' "$0" "$1" "$2" "$3" "$groups"`;

export interface OwnSystemd {
  /** Its root, as a folder of this machine: write to its /etc. */
  readonly root: string;
  /** Runs a script beside its units as root, and returns what it printed. Throws when it fails. */
  sh(script: string): Promise<string>;
  /** A property of a unit. */
  show(unit: string, property: string): Promise<string>;
  stop(): Promise<void>;
}

async function makeRoot(root: string): Promise<void> {
  for (const folder of [
    'usr',
    'proc',
    'sys',
    'dev',
    'run',
    'tmp',
    'var/log',
    'etc/carteiro',
    `.${UNITS}`,
    'opt/carteiro',
  ])
    await mkdir(path.join(root, folder), { recursive: true });
  for (const link of ['bin', 'sbin', 'lib', 'lib64']) await symlink(`usr/${link}`, path.join(root, link));
  const files = {
    'etc/passwd': 'root:x:0:0::/:/bin/sh\ncarteiro:x:990:990::/:/usr/sbin/nologin\n',
    'etc/group': 'root:x:0:\ncarteiro:x:990:\n',
    'etc/nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files\n',
    'etc/hosts': '127.0.0.1 localhost\n',
    'etc/machine-id': '',
    ...Object.fromEntries(Object.entries(TARGETS).map(([name, text]) => [path.join(UNITS, name), text])),
  };
  for (const [name, text] of Object.entries(files)) await writeFile(path.join(root, name), text);
  for (const unit of JOURNAL) await copyFile(`/usr/lib/systemd/system/${unit}`, path.join(root, UNITS, unit));
}

/** The process that is 1 inside; null while there is none, or no longer. */
function innermost({ pid }: ChildProcess): number | null {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
    return children === '' ? null : Number(children.split(' ')[0]);
  } catch {
    return null;
  }
}

/**
 * Null, with one plain line, where systemd cannot be process 1 of a name space. What is in `product` becomes what is in its
 * /opt/carteiro; the folder itself is its own, because a clone's may be closed to other users.
 */
export async function startOwnSystemd(product: string): Promise<OwnSystemd | null> {
  const isRoot = process.platform === 'linux' && process.getuid?.() === 0;
  const needs = ['/lib/systemd/systemd', '/usr/bin/node', '/usr/bin/curl', '/usr/bin/unshare'];
  const missing = needs.filter((file) => !existsSync(file));
  if (
    !isRoot ||
    missing.length > 0 ||
    !(await isThere(['unshare', '--pid', '--fork', '--cgroup', '--mount', 'true']))
  ) {
    console.info(`skipped: no systemd can be started here (${missing.join(', ') || 'root and name spaces'} missing)`);
    return null;
  }
  const folder = await makeTestFolder();
  const own = await boot(folder, product);
  if (own === null) console.info('skipped: systemd does not run as process 1 of a name space here');
  return own;
}

async function boot(folder: TestFolder, product: string): Promise<OwnSystemd | null> {
  const root = path.join(folder.path, 'root');
  const group = path.basename(folder.path);
  await makeRoot(root);
  const inside = ['sh', '-c', BOOT, root, group, process.execPath, product];
  const child = spawn(AS, [...NAMESPACES, ...inside], { stdio: 'ignore' });
  const gone = once(child, 'exit');
  // The end of its process 1 takes every other one along before it is told.
  const stop = async (): Promise<void> => {
    const pid = innermost(child);
    if (pid === null) child.kill('SIGKILL');
    else process.kill(pid, 'SIGKILL');
    await gone;
    const leftovers = `find /sys/fs/cgroup -depth -type d -path '*/${group}*' -exec rmdir {} + 2>/dev/null || true`;
    await run(['sh', '-c', leftovers], '/');
    await folder.remove();
  };
  const sh = (script: string): Promise<string> => {
    const pid = innermost(child);
    const enter = ['--target', String(pid), '--all', `--root=/proc/${pid}/root`, '--wd=/', 'bash', '-euc', script];
    return run(['nsenter', ...enter], '/');
  };
  const givesUpAtMs = performance.now() + BOOT_MS;
  while (child.exitCode === null && child.signalCode === null && performance.now() < givesUpAtMs) {
    if (
      await sh('systemctl is-active --quiet multi-user.target systemd-journald').then(
        () => true,
        () => false,
      )
    )
      return {
        root,
        sh,
        show: async (unit, property) => (await sh(`systemctl show --value --property ${property} ${unit}`)).trim(),
        stop,
      };
  }
  await stop();
  return null;
}
