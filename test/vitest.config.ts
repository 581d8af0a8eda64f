import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { configDefaults, defineConfig } from 'vitest/config';
import { LONG_TESTS } from './support/long-tests.ts';
import { LongestFirst } from './support/longest-first.ts';
import { memoryFolder } from './support/memory-folder.ts';
import { SKIPPED } from './support/report-skipped.ts';

// The workers and the processes that they start load each module compiled.
process.env['NODE_COMPILE_CACHE'] ??= fileURLToPath(new URL('../node_modules/.cache/tests', import.meta.url));
process.env['TMPDIR'] ??= memoryFolder() ?? tmpdir();

export default defineConfig({
  test: {
    root: fileURLToPath(new URL('..', import.meta.url)),
    include: ['test/**/*.test.ts'],
    exclude: [...configDefaults.exclude, ...LONG_TESTS],
    globalSetup: ['test/support/global-setup.ts'],
    setupFiles: ['test/support/end-fixtures.ts', 'test/support/report-database.ts'],
    pool: 'forks',
    // A worker takes one file after the other and keeps its modules: loading them again for each file took a fifth of the run.
    isolate: false,
    // Half of what the longest files do is wait: for deadlines, for processes and servers that start.
    maxWorkers: 4,
    reporters: ['default', './test/support/report-skipped.ts'],
    onConsoleLog: (log) => log.split('\n').some((line) => line !== '' && !line.startsWith(SKIPPED)),
    sequence: { sequencer: LongestFirst },
    // One time-out for every test and hook. It catches what hangs; a machine thirty times slower than ours stays below it, so no
    // verdict depends on how fast the machine is. With 30 s one would: nearly every test of a database or a process waits for
    // others on the same cores, so every one of them would be the exception.
    testTimeout: 900_000,
    hookTimeout: 900_000,
    expect: { poll: { timeout: 300_000, interval: 20 } },
    // The driver rejects a promise that nobody holds when a connection is cut during its own first question
    // (src/db/connect/client.ts asks it none); the tests' own clients meet it now and then.
    onUnhandledError: (error) => !('query' in error && String(error.query).includes('pg_catalog.pg_type')),
  },
});
