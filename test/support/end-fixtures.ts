/** Ends what a test made when the test is over, and what its file made outside of tests at the end of the file. */
import { afterAll, afterEach, beforeEach } from 'vitest';
import { collectEnds, runEnds } from './ends.ts';

type Ends = Parameters<typeof collectEnds>[0];

const [ofFile, ofTest]: [Ends, Ends] = [[], []];
collectEnds(ofFile);
// Of tests that run at once nobody can say which one makes a fixture.
beforeEach(({ task }) => collectEnds(task.concurrent === true ? ofFile : ofTest));
afterEach(async () => {
  collectEnds(ofFile);
  await runEnds(ofTest);
});
afterAll(() => runEnds(ofFile));
