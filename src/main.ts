#!/usr/bin/env node
import { reasonOf } from './main/reason.ts';
import { runCommandLine } from './main/run.ts';

const OF_DRIVER = /[\\/]node_modules[\\/]postgres[\\/]/;
const OURS = /[\\/](?=src[\\/])/;

// The driver answers a server's challenge in a promise that nobody holds; the connection's time-out tells the caller, and the
// process goes on. Any other stray error is a bug, and ends the process with a sentence and the place in our source.
process.on('unhandledRejection', (error) => {
  if (!OF_DRIVER.test((error as Error | null)?.stack ?? '')) throw error;
});
process.on('uncaughtException', (error) => {
  const frame = (error?.stack ?? '').split('\n').find((line) => line.startsWith('    at ') && OURS.test(line));
  const place = frame === undefined ? '' : ` (${frame.slice(frame.search(OURS) + 1).replace(')', '')})`;
  process.stderr.write(`carteiro: ${reasonOf(error)}${place}\n`);
  process.exit(1);
});

if (process.pid === 1) {
  // In a container: the kernel keeps signals without a handler from process 1, and a job has none.
  for (const [signal, code] of [['SIGINT', 130] as const, ['SIGTERM', 143] as const]) {
    process.on(signal, () => {
      if (process.listenerCount(signal) === 1) process.exit(code);
    });
  }
}

// The reader has seen enough, as `| head`: what serves drains, as when its terminal is closed.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  if (!process.emit('SIGHUP', 'SIGHUP')) process.exit();
});

await runCommandLine(process.argv.slice(2));
