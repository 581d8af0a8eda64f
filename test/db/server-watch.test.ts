import { expect, test } from 'vitest';
import { watchServer } from '../../src/db/known-server.ts';
import type { Pool } from '../../src/db/pool.ts';
import { silentLog } from '../support/silent-log.ts';

test('a process that is relieved of looking rests longer, but looks at once when its pool has opened a connection', async () => {
  const ends = new AbortController();
  const pool = { onOpen: () => undefined, run: () => Promise.resolve([{ fault: null, epoch: 1, nextTx: '1' }]) };
  const rests: [ms: number, isOver: boolean][] = [];
  const rest = (ms: number, signal: AbortSignal) => {
    if (rests.length === 1) pool.onOpen();
    rests.push([ms, signal.aborted]);
    if (rests.length === 3) ends.abort();
    return Promise.resolve();
  };
  const rate = () => (rests.length > 0 ? 1 / 8 : 1);
  await watchServer({ pool: pool as unknown as Pool, log: silentLog, rate, rest }, ends.signal);
  expect(rests).toEqual([
    [1_000, false],
    [8_000, true],
    [8_000, false],
  ]);
});
