import { EventEmitter } from 'node:events';
import { describe, expect, test } from 'vitest';
import { takeStopSignals, unlessStopped } from '../../src/main/service/stop-signals.ts';

function listen() {
  const source = new EventEmitter();
  const seen: string[] = [];
  const clock = { ms: 5_000 };
  const giveBack = takeStopSignals({
    onStop: (signal) => seen.push(`stop by ${signal}`),
    onInsist: (signal) => seen.push(`insist by ${signal}`),
    monotonicMs: () => clock.ms,
    source,
  });
  const at = (ms: number, signal: string): void => {
    clock.ms = 5_000 + ms;
    source.emit(signal, signal);
  };
  return { seen, at, giveBack, source };
}

describe('signals that stop a command', () => {
  test('within a second of the first are that same one, however many and of whatever kind', () => {
    const { seen, at } = listen();
    at(0, 'SIGINT');
    at(0, 'SIGINT');
    at(400, 'SIGTERM');
    at(1_000, 'SIGINT');
    expect(seen).toEqual(['stop by SIGINT']);
  });

  test('later than that are meant, and the first of those is the last that counts', () => {
    const { seen, at } = listen();
    at(0, 'SIGINT');
    at(2, 'SIGINT');
    at(1_001, 'SIGINT');
    at(1_003, 'SIGINT');
    at(9_000, 'SIGINT');
    expect(seen).toEqual(['stop by SIGINT', 'insist by SIGINT']);
  });

  test.each(['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'])('%s is one of them', (signal) => {
    const { seen, at } = listen();
    at(0, signal);
    expect(seen).toEqual([`stop by ${signal}`]);
  });

  test('are given back', () => {
    const { at, giveBack, seen, source } = listen();
    giveBack();
    at(0, 'SIGINT');
    expect([seen, source.eventNames()]).toEqual([[], []]);
  });

  test('give up work that never ends, also when they came before it', async () => {
    const stop = new AbortController();
    const given = unlessStopped(stop.signal, new Promise(() => undefined));
    stop.abort(new Error('stopped'));
    await expect(given).rejects.toThrow('stopped');
    await expect(unlessStopped(stop.signal, new Promise(() => undefined))).rejects.toThrow('stopped');
    expect(await unlessStopped(new AbortController().signal, Promise.resolve(7))).toBe(7);
  });
});
