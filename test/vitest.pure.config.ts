/** The tests that need neither a database nor another process: the loop of seconds. */
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: fileURLToPath(new URL('..', import.meta.url)),
    include: ['test/**/*.test.ts'],
    exclude: [
      'test/**/*.db.test.ts',
      // These start processes or servers, or walk for long.
      'test/bench/**',
      'test/chaos/**',
      'test/delivery/sending/**',
      'test/delivery/target/**',
      'test/http/**',
      'test/main/**',
      'test/model/**',
    ],
    pool: 'threads',
    isolate: false,
    // As in vitest.config.ts: no verdict depends on how fast the machine is.
    testTimeout: 900_000,
  },
});
