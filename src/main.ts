#!/usr/bin/env node
import { runCommandLine } from './main/run.ts';
import { tellStrayFaults } from './main/stray-faults.ts';

tellStrayFaults();

if (process.pid === 1) {
  // In a container: the kernel keeps signals from process 1 that it has no handler for, and a job takes none.
  for (const [signal, code] of [['SIGINT', 130] as const, ['SIGTERM', 143] as const]) {
    process.on(signal, () => {
      if (process.listenerCount(signal) === 1) process.exit(code);
    });
  }
}

// Who reads the output has seen enough, as `| head` has.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});

await runCommandLine(process.argv.slice(2));
