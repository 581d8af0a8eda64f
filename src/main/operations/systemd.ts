/**
 * Tells systemd that the process is ready and alive (sd_notify(3)), so that `WatchdogSec=` restarts a process whose event loop
 * hangs. Node cannot send datagrams to Unix sockets, so `systemd-notify` does: at the start, and twice in each `WatchdogSec`.
 * The unit needs `NotifyAccess=all`.
 */
import { execFile } from 'node:child_process';
import type { Logger } from '../../log-lines.ts';

const TIMEOUT_MS = 5_000;

/** Returns what ends it; does nothing where no service manager waits. */
export function notifySystemd(env: NodeJS.ProcessEnv, log: Logger): () => void {
  const { NOTIFY_SOCKET: socket = '', WATCHDOG_USEC: watchdogUs = '0' } = env;
  if (socket === '') return () => undefined;
  const report = (message: string) => {
    execFile('systemd-notify', [message], { timeout: TIMEOUT_MS }, (error) => {
      if (error !== null) log.warn({ reason: error.message }, 'systemd cannot be told that the process lives');
    });
  };
  report('READY=1');
  const everyMs = Number(watchdogUs) / 2_000;
  const beating = everyMs > 0 ? setInterval(() => report('WATCHDOG=1'), everyMs) : undefined;
  return () => clearInterval(beating);
}
