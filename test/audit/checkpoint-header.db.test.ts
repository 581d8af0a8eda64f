/** `X-Carteiro-Checkpoint`: on POSTs of the real poller, as strangers verify it. */
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { beforeEach, describe, expect, test } from 'vitest';
import { checkpointHeader, openHeader, signCheckpoint } from '../../src/audit/checkpoint/checkpoint.ts';
import { NewestCheckpoint } from '../../src/audit/checkpoint/newest.ts';
import { makeKey, readSigner, type Signer } from '../../src/audit/checkpoint/note.ts';
import type { Pool } from '../../src/db/pool.ts';
import { sealAndSign, SIGNER } from '../support/checkpoint.ts';
import { createTestDatabase } from '../support/database.ts';
import { startEngine } from '../support/engine.ts';
import { createLogin } from '../support/logins.ts';
import { commitEvents, insertPartner, insertWebhook } from '../support/outbox.ts';
import { insertEncryptedWebhook, startPollerProcess } from '../support/poller-process.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { untilSettled } from '../support/settled.ts';
import { makeTestFolder } from '../support/test-folder.ts';

const run = promisify(execFile);
const VERIFIERS = path.resolve(import.meta.dirname, '../../src/audit/verifiers');
let receiver: Receiver;
let partnerId: string;

const database = await createTestDatabase();
const folder = await makeTestFolder();
const login = await createLogin(database, 'carteiro_poller');
beforeEach(async () => {
  receiver = await startReceiver();
  partnerId = await insertPartner(database.sql);
});

const headers = () => receiver.posts.map((post) => post.headers['x-carteiro-checkpoint']);

/** The header of each POST of a poller as operators run it. */
async function headersOfPoller(env: Record<string, string>): Promise<unknown[]> {
  await insertEncryptedWebhook(database.sql, partnerId, receiver.url);
  await commitEvents(database.sql, partnerId, 20);
  const poller = await startPollerProcess(login.url, { DATA_DIR: folder.path, ...env });
  await receiver.received(20);
  await poller.end('SIGTERM');
  await receiver.close();
  return headers();
}

describe('each POST of a poller', () => {
  test('carries the newest checkpoint from the first on, which Python and golang.org/x/mod verify', async () => {
    await commitEvents(database.sql, partnerId, 5);
    await untilSettled(database.sql);
    await sealAndSign(database.pool);
    const [header, ...others] = new Set(await headersOfPoller({}));
    expect(others).toEqual([]);
    const line = String(header);
    expect(line.length).toBeLessThanOrEqual(256);
    expect(openHeader(line, [SIGNER])).toMatchObject({ origin: SIGNER.name, size: 1 });
    const python = (text: string) =>
      run('python3', [path.join(VERIFIERS, 'carteiro_audit.py'), 'header', text, SIGNER.text]).then(
        ({ stdout }) => JSON.parse(stdout) as unknown,
        ({ stdout }: { stdout: string }) => JSON.parse(stdout) as unknown,
      );
    expect(await python(line)).toEqual({ confere: true });
    expect(await python(line.replace(' 1 ', ' 2 '))).toEqual({ confere: false });
    expect(await python('x')).toEqual({ confere: false });
  });

  test('carries none where the setting says so', async () => {
    expect(new Set(await headersOfPoller({ CHECKPOINT_HEADER: 'false' }))).toEqual(new Set([undefined]));
  });

  test('costs no question to the database', async () => {
    await insertWebhook(database.sql, partnerId, receiver.url);
    await commitEvents(database.sql, partnerId, 50);
    let questions = 0;
    const counting = { run: (work: never) => ((questions += 1), database.pool.run(work)) } as unknown as Pool;
    const newest = new NewestCheckpoint(counting, () => 0);
    const engine = startEngine(database.pool, { checkpoint: newest, now: () => null });
    while (receiver.posts.length < 50) await engine.poll();
    await engine.close();
    expect([new Set(headers()).size, questions]).toEqual([1, 1]);
  });

  test('keeps the last one where the newest note has become unreadable, and goes on', async () => {
    let atMs = 0;
    const notes = [signCheckpoint({ size: 1, root: Buffer.alloc(32) }, [SIGNER]), 'no note'];
    const pool = { run: async () => ({ note: notes.shift() }) } as unknown as Pool;
    const newest = new NewestCheckpoint(pool, () => (atMs += 20_000));
    while (notes.length > 0) await newest.renew();
    expect(newest.header).toContain(' 1 ');
  });
});

test('the newest checkpoint is asked for by what is sent, after 10 s beside it and after 20 s before it', async () => {
  let atMs = 0;
  const noteOf = (size: number) => signCheckpoint({ size, root: Buffer.alloc(32, size) }, [SIGNER]);
  const headerOf = (size: number) => checkpointHeader(noteOf(size));
  const looks: PromiseWithResolvers<unknown>[] = [];
  const pool = { run: () => (looks.push(Promise.withResolvers()), looks.at(-1)?.promise) } as unknown as Pool;
  const newest = new NewestCheckpoint(pool, () => atMs);
  const sizeAfter = async (ms: number, answered: number | null) => {
    atMs += ms;
    const renewed = newest.renew();
    if (answered !== null) looks.at(-1)?.resolve({ note: noteOf(answered) });
    await renewed;
    return [newest.header, looks.length];
  };
  expect(await sizeAfter(0, 1)).toEqual([headerOf(1), 1]);
  expect(await sizeAfter(9_999, null)).toEqual([headerOf(1), 1]);
  expect(await sizeAfter(1, null)).toEqual([headerOf(1), 2]);
  expect(await sizeAfter(20_000, 3)).toEqual([headerOf(3), 3]);
});

test('the longest name that a key may have fits 256 bytes, beside the most seals', () => {
  const longest = readSigner(makeKey(`carteiro.example.com/${'n'.repeat(79)}`)) as Signer;
  const note = signCheckpoint({ size: 999_999_999_999_999, root: Buffer.alloc(32, 1) }, [longest]);
  expect(checkpointHeader(note).length).toBeLessThanOrEqual(256);
});
