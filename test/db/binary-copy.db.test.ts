import { expect, test } from 'vitest';
import { copyOut, copyRowIn } from '../../src/db/binary-copy.ts';
import { createTestDatabase } from '../support/database.ts';

test('a row that is copied in comes out again, and one that is refused fails the transaction, not the connection', async () => {
  const { pool } = await createTestDatabase();
  const key = Buffer.of(0, 0, 0, 0, 0, 0, 0, 7);
  const hashes = Buffer.alloc(200_000, 5);
  const copy = () => pool.transaction((tx) => copyRowIn(tx, 'seal_trees (number, leaves, nodes)', [key, hashes, key]));
  await copy();
  await expect(copy()).rejects.toThrow('a statement of the transaction had failed');

  const found: Buffer[] = [];
  const hear = (bytes: Buffer, at: number, end: number) => found.push(Buffer.from(bytes.subarray(at, end)));
  await pool.run((tx) => copyOut(tx, 'select leaves from seal_trees union all select nodes from seal_trees', hear));
  expect(found).toEqual([hashes, key]);
});
