/** How the rows of a copy are read from the driver. */
import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { readEntries } from '../../src/audit/seals/rows.ts';
import type { Tx } from '../../src/db/pool.ts';

test('a connection that the last piece of a copy has paused goes on', async () => {
  let isPaused = false;
  const copied = new Readable({ read: () => void (isPaused = false) });
  // As the driver does with what its socket brings.
  const hear = (bytes: Buffer) => (isPaused = !copied.push(bytes) || isPaused);
  hear(Buffer.from('PGCOPY\n\u00ff\r\n\0\0\0\0\0\0\0\0\0', 'latin1'));
  const row = Buffer.concat([Buffer.of(0, 1, 0, 1, 0, 0), Buffer.alloc(65_536, 7)]);
  hear(row);
  hear(Buffer.of(0xff, 0xff));
  copied.push(null);
  expect(isPaused).toBe(true);

  const entries: number[] = [];
  const tx = { unsafe: () => ({ readable: () => Promise.resolve(copied) }) } as unknown as Tx;
  await readEntries(tx, 'true', 'whole', (_, at, end) => entries.push(end - at));
  expect(entries).toEqual([65_536]);
  expect(isPaused).toBe(false);
});
