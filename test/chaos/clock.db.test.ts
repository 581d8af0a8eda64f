import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeEach, expect, test } from 'vitest';
import { useEmptyDatabase } from '../support/one-webhook.ts';
import { commitEvents, insertPartner } from '../support/outbox.ts';
import { insertEncryptedWebhook, type PollerProcess, startPollerProcess } from '../support/poller-process.ts';
import { startReceiver, status } from '../support/receiver.ts';
import { setTimeout as sleep } from 'node:timers/promises';

const DAY_MS = 86_400_000;
const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const PRELOAD = fileURLToPath(new URL('../support/shift-clock.ts', import.meta.url));
let partnerId: string;

const database = await useEmptyDatabase();
const { sql } = database;
const receiver = await startReceiver();
receiver.answerWith(status(500));
beforeEach(async () => {
  partnerId = await insertPartner(sql);
  await insertEncryptedWebhook(sql, partnerId, `${receiver.url}/`);
});

interface Times {
  /** The start of the attempt and its record, in seconds from the moment of the append. */
  readonly started: number;
  readonly recorded: number;
  /** Until the next attempt, in seconds from the start and from the record. */
  readonly nextFromStart: number;
  readonly nextFromRecord: number;
}

/** Commits one event, waits until its attempt failed, and returns its times, all of them by the database's clock. */
async function failOne(): Promise<Times> {
  const [{ before }] = await sql<[{ before: string }]>`select clock_timestamp()::text as before`;
  await commitEvents(sql, partnerId, 1);
  for (;;) {
    const [row] = await sql<Times[]>`
      select extract(epoch from a.started_at - ${before}::text::timestamptz)::float8 as started,
             extract(epoch from a.recorded_at - ${before}::text::timestamptz)::float8 as recorded,
             extract(epoch from d.next_attempt_at - a.started_at)::float8 as "nextFromStart",
             extract(epoch from d.next_attempt_at - a.recorded_at)::float8 as "nextFromRecord"
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

/**
 * The attempt ended between its start and its record, and the next is due a minute after that end. The clock is off by a day; what
 * a busy machine adds between two readings is far from that.
 */
function expectOnSchedule(times: Times): void {
  const busyMachineS = 30;
  expect(times.started).toBeGreaterThan(-busyMachineS);
  expect(times.recorded).toBeGreaterThanOrEqual(times.started);
  expect(times.nextFromStart).toBeGreaterThan(60 - busyMachineS);
  expect(times.nextFromRecord).toBeLessThan(60 + busyMachineS);
}

async function jump(poller: PollerProcess): Promise<void> {
  process.kill(poller.pid, 'SIGUSR2');
  while (!poller.lines.some((line) => line.startsWith('clock now'))) await sleep(10);
}

test.each([
  ['ahead', DAY_MS],
  ['behind', -DAY_MS],
])('a poller whose clock is a day %s, and jumps two days, changes no schedule', async (_name, shiftMs) => {
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
});

test.each(['poll', 'api', 'start'])(
  '%s refuses to start on a database with synchronous_commit = off, and says why',
  async (command) => {
    const { url } = database;
    const [{ name }] = await sql<[{ name: string }]>`select current_database() as name`;
    await sql`alter database ${sql(name)} set synchronous_commit = off`;
    // A migration refuses before the parts do, unless its connection is a better one.
    const direct = `${url}?options=-csynchronous_commit%3Don`;
    const env = {
      PATH: process.env['PATH'],
      DATABASE_URL: url,
      DIRECT_DATABASE_URL: direct,
      SANDBOX: 'true',
      PORT: '0',
    };
    const refusal = await promisify(execFile)(process.execPath, [MAIN, command], { env, timeout: 300_000 }).then(
      () => null,
      (error: { code: number; stdout: string; stderr: string }) => error,
    );
    await sql`alter database ${sql(name)} reset synchronous_commit`;
    expect(refusal?.code).toBe(1);
    expect(refusal?.stderr).toContain('synchronous_commit = off loses acknowledged commits');
    expect(refusal?.stderr).not.toContain('    at ');
  },
);
