import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { copyRowIn } from '../../src/db/binary-copy.ts';
import type { Tx } from '../../src/db/pool.ts';

test('a server that goes away within a copy fails the copy, and ends no process', async () => {
  const stray: Error[] = [];
  const keep = (error: Error) => stray.push(error);
  process.on('uncaughtException', keep);
  const gone = new Writable({ write: (_chunk, _encoding, done) => done(new Error('write EPIPE')) });
  const tx = { unsafe: () => ({ writable: async () => gone }) } as unknown as Tx;
  await expect(copyRowIn(tx, 'seal_nodes (hash)', [Buffer.from('x')])).rejects.toThrow('write EPIPE');
  await new Promise((resolve) => setImmediate(resolve));
  process.off('uncaughtException', keep);
  expect(stray).toEqual([]);
});
