/** However many parts cannot be read or hashed, there are no more threads than before. */
import { expect, onTestFinished, test } from 'vitest';
import { HashThreads, THREADS } from '../../src/archive/hashing/hash-threads.ts';

test('a part that cannot be read, or is no file of rows, costs no thread', async () => {
  let started = 0;
  const count = () => (started += 1);
  process.on('worker', count);
  const threads = new HashThreads();
  onTestFinished(async () => {
    process.off('worker', count);
    await threads.close();
  });
  const reads = [
    async () => [],
    async () => Promise.reject(new Error('was altered')),
    async () => [new ArrayBuffer(64)],
  ];
  const ended: string[] = [];
  for (const read of reads.flatMap((one) => [one, one, one])) {
    const [{ status }] = await Promise.allSettled([threads.hash(read, [])]);
    ended.push(status);
  }
  expect(ended.map((status) => status === 'rejected')).toEqual([
    false,
    false,
    false,
    true,
    true,
    true,
    true,
    true,
    true,
  ]);
  expect(await threads.hash(async () => [], [])).toMatchObject({ counts: [] });
  expect(started).toBe(THREADS);
});
