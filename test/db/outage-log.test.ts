import { expect, test } from 'vitest';
import { logFailedTry, runLoop } from '../../src/db/outage-log.ts';
import { DatabaseUnavailable } from '../../src/db/unavailable.ts';
import type { Logger } from '../../src/log-lines.ts';

const refused = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:5432'), { code: 'ECONNREFUSED' });
const away = new DatabaseUnavailable('the database is out of reach', { cause: refused });

function listen() {
  const lines: [string, string, unknown][] = [];
  const write = (level: string) => (fields: unknown, message: string) => void lines.push([level, message, fields]);
  const log: Logger = { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
  return { log, lines };
}

/** A try each 100 ms, by two parts, from `fromS` to `toS`. */
function outage(log: Logger, fromS: number, toS: number, error: Error = away): void {
  for (let atMs = fromS * 1_000; atMs < toS * 1_000; atMs += 100) {
    for (const what of ['cannot claim', 'cannot record']) logFailedTry(log, error, what, 'a bug', () => atMs);
  }
}

test('an outage of 47 s is told with its reason by each part, then in a line each ten seconds with a count', () => {
  const { log, lines } = listen();
  outage(log, 0, 47);
  const reason = { code: 'ECONNREFUSED', reason: 'connect ECONNREFUSED 127.0.0.1:5432' };
  expect(lines.slice(0, 2)).toEqual([
    ['warn', 'cannot claim', reason],
    ['warn', 'cannot record', reason],
  ]);
  const later = [10, 20, 30, 40].map((for_s) => expect.objectContaining({ ...reason, for_s }) as object);
  expect(lines.slice(2)).toEqual(later.map((fields) => ['warn', 'the database is still out of reach', fields]));
  const counted = lines.slice(2).map(([, , fields]) => (fields as { failed_tries: number }).failed_tries);
  expect(counted[0]).toBe(199);
  expect(counted.slice(1)).toEqual([200, 200, 200]);
});

test('another reason is told at once, and so is the next outage', () => {
  const { log, lines } = listen();
  outage(log, 0, 1);
  const starting = Object.assign(new Error('the database system is starting up'), { code: '57P03' });
  outage(log, 1, 2, starting);
  expect(lines.map(([, , fields]) => (fields as { code: string }).code)).toEqual([
    'ECONNREFUSED',
    'ECONNREFUSED',
    '57P03',
  ]);
  outage(log, 60, 61);
  expect(lines.slice(3).map(([, message]) => message)).toEqual(['cannot claim', 'cannot record']);
});

test('what is no outage is an error each time', () => {
  const { log, lines } = listen();
  outage(log, 0, 0.2, new Error('column "x" does not exist'));
  expect(lines).toHaveLength(4);
  expect(lines[0]).toEqual(['error', 'a bug', { code: 'Error', error: 'column "x" does not exist' }]);
});

test('a step that is cut off by the stop is no outage, and what is no outage is told all the same', async () => {
  const { log, lines } = listen();
  const loop = { log, afterFaultMs: 0, away: 'cannot seal', fault: 'a bug' };
  for (const error of [away, new Error('column "x" does not exist')]) {
    const stop = new AbortController();
    await runLoop(loop, stop.signal, async () => {
      stop.abort();
      throw error;
    });
  }
  expect(lines.map(([level, message]) => [level, message])).toEqual([['error', 'a bug']]);
});
