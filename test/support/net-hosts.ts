/**
 * Hosts with a network of their own: each a network namespace with one cable to this machine. They live as long as the
 * process that holds their namespace, so nothing is left behind, also by a run that is killed.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readlinkSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { isThere, run } from './snippets.ts';

export type NetHost = Awaited<ReturnType<typeof makeHost>>;

/** True where namespaces and links may be made; else says so in one plain line. */
export async function mayMakeHosts(): Promise<boolean> {
  for (const command of [
    ['ip', '-V'],
    ['unshare', '--net', 'true'],
  ] as const) {
    if (process.platform === 'linux' && process.getuid?.() === 0 && (await isThere([...command]))) continue;
    console.info(`skipped: \`${command.join(' ')}\` does not run here as root, so there are no hosts to cut off`);
    return false;
  }
  return true;
}

/** This machine's address for all hosts of a run. Their routes live as long as they do: remove them last. */
export const HERE = '10.231.77.1';

const NAMESPACES = 'unshare';
const ip = (...args: string[]) => run(['ip', ...args], '/');

/** Makes host `number`, from 2 to 200, which reaches {@link HERE} and nothing else. */
export async function makeHost(number: number) {
  const holder: ChildProcess = spawn(NAMESPACES, ['--net', '--kill-child', 'sleep', 'infinity'], { stdio: 'ignore' });
  const gone = once(holder, 'exit');
  const end = () => holder.kill('SIGKILL');
  process.once('exit', end);
  const own = readlinkSync('/proc/self/ns/net');
  while (readlinkSync(`/proc/${holder.pid}/ns/net`) === own) await sleep(5);
  const prefix = ['nsenter', `--net=/proc/${holder.pid}/ns/net`, '--'];
  const inside = (...args: string[]) => run([prefix[0] ?? '', ...prefix.slice(1), 'ip', ...args], '/');
  const [here, there] = [`ct${holder.pid}`, 'cable'];
  const address = HERE.replace(/\d+$/, String(number));
  await ip('link', 'add', here, 'type', 'veth', 'peer', 'name', there, 'netns', String(holder.pid));
  await ip('address', 'add', HERE, 'peer', address, 'dev', here);
  await ip('link', 'set', here, 'up');
  await inside('link', 'set', 'lo', 'up');
  await inside('address', 'add', address, 'peer', HERE, 'dev', there);
  await inside('link', 'set', there, 'up');
  return {
    address,
    /** What stands before a command to run it there. */
    prefix,
    /** Pulls the cable: nothing arrives on either side any more, and nobody is told. */
    cut: async () => void (await inside('link', 'set', there, 'down')),
    heal: async () => void (await inside('link', 'set', there, 'up')),
    async remove() {
      process.off('exit', end);
      end();
      await gone;
    },
  };
}
