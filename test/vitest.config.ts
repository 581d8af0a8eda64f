import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: fileURLToPath(new URL('..', import.meta.url)),
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 15_000,
    hookTimeout: 60_000,
    // The driver rejects a promise that nobody holds when a connection is cut during its own first question
    // (src/db/stray-faults.ts); tests that cut connections meet it now and then.
    onUnhandledError: (error) => !('query' in error && String(error.query).includes('pg_catalog.pg_type')),
  },
});
