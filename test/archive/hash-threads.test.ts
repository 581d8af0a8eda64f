/** However many parts cannot be read or hashed, there are no more threads than before. */
import { expect, onTestFinished, test } from 'vitest';
import { HashThreads, THREADS } from '../../src/archive/hashing/hash-threads.ts';
import { randomPart } from '../support/part-files.ts';
import { createRandom } from '../support/random.ts';

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
    async () => randomPart(2, createRandom(1)).map((one) => Object.assign(one, { bytes: new ArrayBuffer(64) })),
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

test('a file that takes more memory than a thread has is a fault of it, and the next one is hashed', async () => {
  const threads = new HashThreads();
  onTestFinished(async () => threads.close());
  const files = () => randomPart(3, createRandom(1));
  const seals = Array<number>(3_000_000).fill(Infinity);
  await expect(threads.hash(async () => files(), seals)).rejects.toThrow('has not the memory to hash events.parquet');
  for (let part = 0; part < THREADS; part += 1)
    expect((await threads.hash(async () => files(), [Infinity])).counts).toEqual([6]);
});

test('a part that is asked for when the threads are closed starts none', async () => {
  const threads = new HashThreads();
  const { promise, resolve } = Promise.withResolvers<[]>();
  const hashed = threads.hash(async () => promise, []);
  await threads.close();
  resolve([]);
  await expect(hashed).rejects.toThrow('are closed');
});
