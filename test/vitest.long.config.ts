/** `npm run test:long`: see support/long-tests.ts. Each file has a process of its own: some measure theirs. */
import { LONG_TESTS } from './support/long-tests.ts';
import short from './vitest.config.ts';

// The longest takes four minutes on a machine of its own, and twenty beside others' work.
const LIMIT_MS = 3_600_000;

export default {
  test: {
    ...short.test,
    include: LONG_TESTS,
    exclude: [],
    isolate: true,
    testTimeout: LIMIT_MS,
    hookTimeout: LIMIT_MS,
  },
};
