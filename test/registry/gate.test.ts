import { describe, expect, test } from 'vitest';
import { RegistryGate } from '../../src/registry/gate.ts';

const hang = () => new Promise<never>(() => undefined);

describe('the gate to the registry', () => {
  test('passes an answer on, and a throw as no answer', async () => {
    const gate = new RegistryGate(1);
    expect(await gate.call(async () => 'sim', 1_000)).toEqual({ answer: 'sim' });
    const error = new Error('ECONNREFUSED');
    expect(await gate.call(() => Promise.reject(error), 1_000)).toEqual({ unanswered: error });
    const thrown = await gate.call(() => {
      throw error;
    }, 1_000);
    expect(thrown).toEqual({ unanswered: error });
    expect(await gate.call(async () => 'ainda', 1_000)).toEqual({ answer: 'ainda' });
  });

  test('ends a silent call at its deadline, and its signal with it', async () => {
    const gate = new RegistryGate(1);
    let seen: AbortSignal | undefined;
    const ended = await gate.call((signal) => {
      seen = signal;
      return hang();
    }, 20);
    expect(ended).toEqual({ unanswered: expect.objectContaining({ message: expect.stringContaining('20 ms') }) });
    expect(seen?.aborted).toBe(true);
    expect(await gate.call(async () => 'livre', 1_000)).toEqual({ answer: 'livre' });
  });

  test('lets in so many at once, the rest in their turn', async () => {
    const gate = new RegistryGate(2);
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
      }, 1_000),
    );
    expect(await Promise.all(calls)).toEqual(Array.from({ length: 7 }, (_, answer) => ({ answer })));
    expect(most).toBe(2);
    expect(order).toEqual([0, 1, 2, 3, 4, 5, 6]);
  });

  test('does not ask for whom no slot was free in time, and loses no slot over it', async () => {
    const gate = new RegistryGate(1);
    const holding = gate.call(hang, 60);
    let asked = 0;
    // Half of the time at most: of these 70 ms, the slot is free again after 60.
    const late = await gate.call(async () => (asked += 1), 70);
    expect([late, asked]).toEqual([{ unasked: true }, 0]);
    await holding;
    const both = await Promise.all([gate.call(async () => 1, 500), gate.call(async () => 2, 500)]);
    expect(both).toEqual([{ answer: 1 }, { answer: 2 }]);
  });
});
