import { describe, expect, test } from 'vitest';
import { BREAKER_FAILURES, type GateOptions, RegistryGate } from '../../src/registry/gate.ts';
import { NotAsked } from '../../src/registry/port.ts';

const hang = () => new Promise<never>(() => undefined);
const gateOf = (options: Partial<GateOptions> = {}) => new RegistryGate({ slots: 1, timeoutMs: 1_000, ...options });
const refused = (why: string) => expect.objectContaining({ name: 'NotAsked', why });

describe('the gate to the registry', () => {
  test('passes an answer and a throw on', async () => {
    const gate = gateOf();
    expect(await gate.call(async () => 'sim')).toBe('sim');
    await expect(gate.call(() => Promise.reject(new Error('ECONNREFUSED')))).rejects.toThrow('ECONNREFUSED');
    await expect(
      gate.call(() => {
        throw new Error('at once');
      }),
    ).rejects.toThrow('at once');
    expect(await gate.call(async () => 'ainda')).toBe('ainda');
  });

  test('ends a silent call at its deadline, and its signal with it', async () => {
    const gate = gateOf({ timeoutMs: 20 });
    let seen: AbortSignal | undefined;
    const ended = gate.call((signal) => {
      seen = signal;
      return hang();
    });
    await expect(ended).rejects.toThrow('no answer from the registry in 20 ms');
    expect(seen?.aborted).toBe(true);
    expect(await gate.call(async () => 'livre')).toBe('livre');
  });

  test('lets in so many at once, the rest in their turn', async () => {
    const gate = gateOf({ slots: 2, timeoutMs: 20_000 });
    const order: number[] = [];
    let inside = 0;
    let most = 0;
    const calls = Array.from({ length: 7 }, (_, index) =>
      gate.call(async () => {
        order.push(index);
        most = Math.max(most, (inside += 1));
        await new Promise((resolve) => setTimeout(resolve, 3));
        inside -= 1;
        return index;
      }),
    );
    expect(await Promise.all(calls)).toEqual([0, 1, 2, 3, 4, 5, 6]);
    expect(most).toBe(2);
    expect(order).toEqual([0, 1, 2, 3, 4, 5, 6]);
  });

  test('does not ask for whom no slot was free in time, and loses no slot over it', async () => {
    const gate = gateOf({ timeoutMs: 300 });
    const holding = gate.call(hang).catch(() => undefined);
    let asked = 0;
    // Half of the time at most: the slot is free again after all of it.
    await expect(gate.call(async () => (asked += 1))).rejects.toEqual(refused('busy'));
    expect(asked).toBe(0);
    await holding;
    expect(await Promise.all([gate.call(async () => 1), gate.call(async () => 2)])).toEqual([1, 2]);
  });
});

describe('the breaker', () => {
  /** A registry that fails until it is mended, and its gate after so many failures. */
  async function broken(failures: number, openMs: number) {
    const reported: (boolean | string)[] = [];
    const state = { isWell: false, asked: 0, probes: 0 };
    const gate = gateOf({
      openMs,
      probe: async () => {
        state.probes += 1;
        if (!state.isWell) throw new Error('fora do ar');
      },
      onBreaker: (isOpen) => void reported.push(isOpen),
      onCall: (outcome) => void reported.push(outcome),
    });
    const ask = () =>
      gate.call(async () => {
        state.asked += 1;
        if (!state.isWell) throw new Error('500');
      });
    for (let count = 0; count < failures; count += 1) await expect(ask()).rejects.toThrow('500');
    return { gate, ask, state, reported };
  }

  test('stays closed through four failures, and an answer forgets them', async () => {
    const { ask, state, gate } = await broken(BREAKER_FAILURES - 1, 60_000);
    state.isWell = true;
    await ask();
    state.isWell = false;
    for (let count = 1; count < BREAKER_FAILURES; count += 1) await expect(ask()).rejects.toThrow('500');
    expect(gate.isOpen).toBe(false);
  });

  test('opens at the fifth: nothing is asked any more, and that is told', async () => {
    const { gate, ask, state, reported } = await broken(BREAKER_FAILURES, 60_000);
    expect(gate.isOpen).toBe(true);
    await expect(ask()).rejects.toEqual(refused('open'));
    await expect(ask()).rejects.toBeInstanceOf(NotAsked);
    expect(state.asked).toBe(BREAKER_FAILURES);
    expect(reported).toEqual([...Array.from({ length: 5 }, () => 'failed'), true, 'not_asked', 'not_asked']);
    gate.close();
  });

  test('asks whether the registry is in service, again and again, and closes when it is', async () => {
    const { gate, ask, state, reported } = await broken(BREAKER_FAILURES, 5);
    await expect.poll(() => state.probes).toBeGreaterThan(2);
    expect([gate.isOpen, state.asked]).toEqual([true, BREAKER_FAILURES]);
    state.isWell = true;
    await expect.poll(() => gate.isOpen).toBe(false);
    await ask();
    expect(reported.slice(5)).toEqual([true, false, 'answered']);
  });

  test('refuses those that waited for a slot when it opens', async () => {
    const gate = gateOf({ timeoutMs: 2_000, openMs: 60_000, probe: async () => undefined });
    const failing = Promise.withResolvers<never>();
    for (let count = 1; count < BREAKER_FAILURES; count += 1)
      await expect(gate.call(() => Promise.reject(new Error('500')))).rejects.toThrow('500');
    const last = gate.call(() => failing.promise);
    let asked = 0;
    const waiting = [1, 2].map(() => gate.call(async () => (asked += 1)));
    failing.reject(new Error('500'));
    const all = await Promise.allSettled([last, ...waiting]);
    expect(all.map((one) => one.status === 'rejected' && (one.reason as Error).name)).toEqual([
      'Error',
      'NotAsked',
      'NotAsked',
    ]);
    expect(asked).toBe(0);
    gate.close();
  });
});
