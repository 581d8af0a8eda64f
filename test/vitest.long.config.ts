/** `npm run test:long`: see support/long-tests.ts. Each file has a process of its own: some measure theirs. */
import { LONG_TESTS } from './support/long-tests.ts';
import short from './vitest.config.ts';

export default { test: { ...short.test, include: LONG_TESTS, exclude: [], isolate: true } };
