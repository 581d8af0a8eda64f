#!/usr/bin/env node
import { runCommandLine } from './main/run.ts';
import { tellStrayFaults } from './main/stray-faults.ts';

tellStrayFaults();

if (process.pid === 1) {
  // In a container: the kernel keeps signals without a handler from process 1, and a job has none.
  for (const [signal, code] of [['SIGINT', 130] as const, ['SIGTERM', 143] as const]) {
    process.on(signal, () => {
      if (process.listenerCount(signal) === 1) process.exit(code);
    });
  }
}

// The reader has seen enough, as `| head`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});

await runCommandLine(process.argv.slice(2));
