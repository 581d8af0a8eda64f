import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { commitEvents, insertPartner } from '../support/outbox.ts';
import { insertSealedWebhook, type PollerProcess, startPollerProcess } from '../support/poller-process.ts';
import { type Receiver, startReceiver, status } from '../support/receiver.ts';
import { setTimeout as sleep } from 'node:timers/promises';

const DAY_MS = 86_400_000;
const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const PRELOAD = fileURLToPath(new URL('../support/shift-clock.ts', import.meta.url));

let database: TestDatabase;
let receiver: Receiver;
let partnerId: string;

beforeAll(async () => {
  database = await createTestDatabase();
  receiver = await startReceiver();
  receiver.answerWith(status(500));
});
afterAll(async () => {
  await receiver.close();
  await database.drop();
});
beforeEach(async () => {
  const { sql } = database;
  await sql`truncate partners, webhooks, webhook_history, events, messages, deliveries, arrivals, lanes, attempts cascade`;
  partnerId = await insertPartner(sql);
  await insertSealedWebhook(sql, partnerId, `${receiver.url}/`);
});

/** Commits one event, waits until its attempt failed, and returns its times, in seconds from the database's present. */
async function failOne(): Promise<{ started: number; next: number; claimed: number }> {
  const { sql } = database;
  await commitEvents(sql, partnerId, 1);
  for (;;) {
    const [row] = await sql<{ started: number; next: number; claimed: number }[]>`
      select extract(epoch from a.started_at - clock_timestamp())::float8 as started,
             extract(epoch from d.next_attempt_at - clock_timestamp())::float8 as next,
             extract(epoch from a.recorded_at - clock_timestamp())::float8 as claimed
      from deliveries d join attempts a on a.delivery_id = d.id
      where d.failures = 1 and d.next_attempt_at > now() - interval '2 days'
      order by a.recorded_at desc limit 1`;
    if (row) {
      await sql`update deliveries set status = 'entregue', next_attempt_at = null, finished_at = now()`;
      await sql`update deliveries set failures = 0`;
      return row;
    }
    await sleep(20);
  }
}

function expectOnSchedule(times: { started: number; next: number; claimed: number }): void {
  expect(times.started).toBeGreaterThan(-5);
  expect(times.started).toBeLessThanOrEqual(0);
  expect(times.claimed).toBeLessThanOrEqual(0);
  expect(times.next).toBeGreaterThan(55);
  expect(times.next).toBeLessThanOrEqual(60);
}

async function jump(poller: PollerProcess): Promise<void> {
  process.kill(poller.pid, 'SIGUSR2');
  while (!poller.lines.some((line) => line.startsWith('clock now'))) await sleep(10);
}

test.each([
  ['ahead', DAY_MS],
  ['behind', -DAY_MS],
])(
  'a poller whose clock is a day %s, and jumps two days, changes no schedule',
  { timeout: 30_000 },
  async (_name, shiftMs) => {
    const env = { NODE_OPTIONS: `--import=${PRELOAD}`, CLOCK_SHIFT_MS: String(shiftMs) };
    const poller = await startPollerProcess(database.url, env);
    // Its log shows that the shift is on.
    const [, stamp = ''] = /"time":"?([^",]+)/.exec(poller.lines.join('\n')) ?? [];
    const loggedMs = /^\d+$/.test(stamp) ? Number(stamp) : Date.parse(stamp);
    expect(Math.abs(loggedMs - Date.now() - shiftMs)).toBeLessThan(60_000);

    expectOnSchedule(await failOne());
    await jump(poller);
    expectOnSchedule(await failOne());
    expect(await poller.end('SIGTERM')).toBe(0);
  },
);

test.each(['poll', 'api', 'start'])(
  '%s refuses to start on a database with synchronous_commit = off, and says why',
  async (command) => {
    const { sql, url } = database;
    const [{ name }] = await sql<[{ name: string }]>`select current_database() as name`;
    await sql`alter database ${sql(name)} set synchronous_commit = off`;
    // A migration refuses before the parts do, unless its connection is a better one.
    const direct = `${url}?synchronous_commit=on`;
    const env = {
      PATH: process.env['PATH'],
      DATABASE_URL: url,
      DIRECT_DATABASE_URL: direct,
      SANDBOX: 'true',
      PORT: '0',
    };
    const refusal = await promisify(execFile)(process.execPath, [MAIN, command], { env, timeout: 10_000 }).then(
      () => null,
      (error: { code: number; stdout: string; stderr: string }) => error,
    );
    await sql`alter database ${sql(name)} reset synchronous_commit`;
    expect(refusal?.code).toBe(1);
    expect(refusal?.stderr).toContain('synchronous_commit = off loses acknowledged commits');
    expect(refusal?.stderr).not.toContain('    at ');
  },
);
