import { createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { Pool } from '../../src/db/pool.ts';
import type { DatabaseUnavailable } from '../../src/db/unavailable.ts';
import { listening } from '../support/listening.ts';

const FIELDS = Buffer.from('SFATAL\0VFATAL\0C53300\0Msorry, too many clients already\0\0');
const REFUSAL = Buffer.concat([Buffer.from('E\0\0\0\0'), FIELDS]);
REFUSAL.writeUInt32BE(4 + FIELDS.length, 1);

/** A pool on a server that has no connection free, with a clock and a chance of its own. */
async function openRefused(random: () => number) {
  const clock = { ms: 0 };
  const server = createServer((socket) => socket.on('error', () => undefined).once('data', () => socket.end(REFUSAL)));
  const url = `postgres://nobody@127.0.0.1:${await listening(server)}/none`;
  const pool = new Pool({ url, name: 'refused', max: 4, deadlineMs: 20_000, monotonicMs: () => clock.ms, random });
  let asked = 0;
  pool.onOpen = () => (asked += 1);
  onTestFinished(() => pool.close(0));
  /** How long to rest, as a call that failed says. */
  const restMs = async () => {
    const error = await pool.run((sql) => sql`select 1`).catch((failed: unknown) => failed);
    return (error as DatabaseUnavailable).againInMs;
  };
  return { clock, restMs, asked: () => asked };
}

test('a server without a free connection is asked again after rests that double up to 10 s, and not before', async () => {
  const { clock, restMs, asked } = await openRefused(() => 0);
  const rests: number[] = [];
  for (let refusals = 1; refusals <= 8; refusals += 1) {
    const rest = await restMs();
    rests.push(rest);
    clock.ms += rest - 1;
    expect([await restMs(), asked()]).toEqual([1, refusals]);
    clock.ms += 1;
  }
  expect(rests).toEqual([200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000]);
});

test('pools that were refused together do not come back together', async () => {
  const [early, late] = [await openRefused(() => 0.999), await openRefused(() => 0.25)];
  expect([await early.restMs(), await late.restMs()]).toEqual([expect.closeTo(100, 0), 175]);
});
