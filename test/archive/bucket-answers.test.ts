/** A bucket whose answers have no end: they are read up to a bound. In a directory, what is no file is not read. */
import { execFile } from 'node:child_process';
import { symlink } from 'node:fs/promises';
import { createServer } from 'node:http';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { openPlace } from '../../src/archive/place.ts';
import { readBounded } from '../../src/bounded-answer.ts';
import { createFeedApi } from '../../src/listen/feed-api.ts';
import { listening } from '../support/listening.ts';
import { makeTestFolder } from '../support/test-folder.ts';

const run = promisify(execFile);

/** Answers 200 and then bytes, for as long as anybody reads; `closed` when the reader has gone. */
async function endless() {
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  const server = createServer((_, response) => {
    response.once('close', () => resolve());
    response.writeHead(200, { 'Content-Type': 'application/json' });
    const more = () => {
      while (!response.destroyed && response.write(Buffer.alloc(65_536, '['))) continue;
    };
    response.on('drain', more);
    more();
  });
  return { url: `http://127.0.0.1:${await listening(server)}`, closed };
}

test('a bucket that answers without an end is a fault, and its connection is let go', async () => {
  const { url, closed } = await endless();
  const place = openPlace('s3://lender/log', { endpoint: url, region: 'sa-east-1', keyId: 'a', secret: 'b' });
  await expect(place.read('2026-01/x.parquet', 200_000)).rejects.toThrow(/it answers more than 196 KiB$/);
  await closed;
});

test('a pipe that nobody writes to, a device without an end and a directory are told, not read', async () => {
  const folder = await makeTestFolder();
  const place = openPlace(folder.path, null);
  await run('mkfifo', [path.join(folder.path, 'pipe')]);
  await symlink('/dev/zero', path.join(folder.path, 'device'));
  for (const name of ['pipe', 'device', '.'])
    await expect(place.read(name, 1_000)).rejects.toThrow(/ cannot be read: it is no file$/);
});

test('an API that answers `listen` without an end is told as one that is away', async () => {
  const { url, closed } = await endless();
  const api = createFeedApi(url, 'token');
  const answer = await api.readFeed({ after: null, since: new Date(0), limit: 1 }, new AbortController().signal);
  expect(answer).toMatchObject({ away: expect.stringContaining('it answers more than 8192 KiB') });
  await closed;
});

test('an answer of the bound is read whole', async () => {
  expect((await readBounded(new Response('x'.repeat(100)), 100)).length).toBe(100);
  await expect(readBounded(new Response('x'.repeat(101)), 100)).rejects.toThrow('it answers more than 1 KiB');
});
