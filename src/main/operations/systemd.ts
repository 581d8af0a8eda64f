/**
 * Tells systemd that the process is ready, and that it lives (sd_notify(3)): a unit with `WatchdogSec=` starts a process anew whose
 * event loop has stood still for that long. Node sends no datagrams to Unix sockets, so `systemd-notify` does, which each host
 * with systemd has: one short process at the start, and two in each `WatchdogSec`. The unit needs `NotifyAccess=all` for that.
 */
import { execFile } from 'node:child_process';
import type { Logger } from '../../log-lines.ts';

const TIMEOUT_MS = 5_000;

/** Returns what ends it; does nothing where no service manager waits. */
export function tellSystemd(env: NodeJS.ProcessEnv, log: Logger): () => void {
  const { NOTIFY_SOCKET: socket = '', WATCHDOG_USEC: watchdogUs = '0' } = env;
  if (socket === '') return () => undefined;
  const tell = (message: string) => {
    execFile('systemd-notify', [message], { timeout: TIMEOUT_MS }, (error) => {
      if (error !== null) log.warn({ reason: error.message }, 'systemd cannot be told that the process lives');
    });
  };
  tell('READY=1');
  const everyMs = Number(watchdogUs) / 2_000;
  const beating = everyMs > 0 ? setInterval(() => tell('WATCHDOG=1'), everyMs) : undefined;
  return () => clearInterval(beating);
}
