/**
 * CPU seconds and memory of processes, from /proc (Linux only, 10 ms steps).
 * PostgreSQL's are those of the postmaster, of its living children, and of the children it has waited for: a backend
 * that has exited is in the postmaster's own account, so none is lost when connections come and go.
 */
import { readdirSync, readFileSync } from 'node:fs';

const TICKS_PER_S = 100;

interface Stat {
  readonly parent: number;
  readonly own: number;
  readonly waitedFor: number;
}

function readStat(pid: number): Stat | undefined {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return undefined;
  }
  // The name in parentheses may hold blanks; the state comes right behind it.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const seconds = (index: number) => Number(fields[index]) / TICKS_PER_S;
  return { parent: Number(fields[1]), own: seconds(11) + seconds(12), waitedFor: seconds(13) + seconds(14) };
}

/** CPU seconds that one living process has used so far. */
export function cpuOf(pid: number): number {
  return readStat(pid)?.own ?? 0;
}

/** CPU seconds of a PostgreSQL server so far, exited backends included. */
export function cpuOfServer(postmaster: number): number {
  const own = readStat(postmaster);
  if (!own) return 0;
  let sum = own.own + own.waitedFor;
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const stat = readStat(Number(name));
    if (stat?.parent === postmaster) sum += stat.own;
  }
  return sum;
}

/** Resident memory of a process now, in MiB. */
export function memoryOf(pid: number): number {
  const [, kib = '0'] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kib) / 1024;
}
