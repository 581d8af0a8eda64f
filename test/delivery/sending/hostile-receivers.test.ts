/** Every hostile receiver against the real sender with its real deadline. */
import tls from 'node:tls';
import { expect, test } from 'vitest';
import { createSender, type SendResult } from '../../../src/delivery/sending/send.ts';
import { type HostileReceiver, startHostileFarm } from '../../support/hostile-farm.ts';
import { measureMemory } from '../../support/hostile-memory.ts';

const DEADLINE_MS = 30_000;
const MAX_GROWTH_BYTES = 20 * 1_048_576;
const farm = await startHostileFarm();

interface Tried {
  readonly name: string;
  readonly results: SendResult[];
}

test('each attempt at any of them ends by its deadline, and has its outcome', async () => {
  const sender = createSender({ allowInsecure: true, tls: { ca: farm.ca } });

  async function attempt({ name, url, expected }: HostileReceiver): Promise<Tried> {
    const results: SendResult[] = [];
    while (results.length < expected.length) {
      results.push(await sender.send({ url, body: Buffer.from('{"evento":"webhook.teste"}'), headers: [] }));
    }
    return { name, results };
  }

  const tried = await Promise.all(farm.receivers.map(attempt));
  await sender.close();

  const outcomes = tried.map(({ name, results }) => [
    name,
    ...results.map(({ outcome, statusCode }) => ({ outcome, statusCode })),
  ]);
  expect(outcomes).toEqual(farm.receivers.map(({ name, expected }) => [name, ...expected]));

  const results = tried.flatMap((one) => one.results);
  const timedOut = results.filter(({ outcome }) => outcome === 'tempo_esgotado');
  expect(timedOut.filter(({ durationMs }) => durationMs < DEADLINE_MS)).toEqual([]);
  expect(new Set(results.map(({ address }) => address))).toEqual(new Set(['127.0.0.1', null]));
  expect(results.filter(({ error }) => error?.includes('\n') || error?.includes('assert'))).toEqual([]);
});

test('sent to over and over, they make the sender grow by less than 20 MiB, and leave no socket', async () => {
  const figures = await measureMemory(farm, 12, MAX_GROWTH_BYTES);
  expect(figures.attempts).toBeGreaterThan(2_000);
  expect(figures.heldInFlight).toBeLessThan(MAX_GROWTH_BYTES);
  expect(figures.heldAfter).toBeLessThan(MAX_GROWTH_BYTES);
  expect(figures.residentGrowth).toBeLessThan(MAX_GROWTH_BYTES);
  expect(figures.sockets).toBe(0);
});

test('old TLS is refused even in a process that allows it', async () => {
  const allowed = { version: tls.DEFAULT_MIN_VERSION, ciphers: tls.DEFAULT_CIPHERS };
  Object.assign(tls, { DEFAULT_MIN_VERSION: 'TLSv1', DEFAULT_CIPHERS: 'DEFAULT@SECLEVEL=0' });
  const sender = createSender({ allowInsecure: true, tls: { ca: farm.ca } });
  const old = farm.receivers.filter(({ name }) => /TLS 1\.[01] alone/.test(name));
  for (const { url } of old) {
    const result = await sender.send({ url, body: Buffer.from('{}'), headers: [] });
    expect(result).toMatchObject({ outcome: 'erro_tls', statusCode: null });
  }
  await sender.close();
  Object.assign(tls, { DEFAULT_MIN_VERSION: allowed.version, DEFAULT_CIPHERS: allowed.ciphers });
  expect(old).toHaveLength(2);
});

test('there are at least 24 of them, each with a name of its own', () => {
  expect(new Set(farm.receivers.map(({ name }) => name)).size).toBe(farm.receivers.length);
  expect(farm.receivers.length).toBeGreaterThanOrEqual(24);
});
