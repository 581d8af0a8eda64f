/**
 * What a stranger's text costs the scanners, in looks at its characters: the worst texts we know, at three lengths. A cost that grows
 * faster than the text is red, whatever the machine. What expressions cost, `npm run check:regex` judges.
 */
import { describe, expect, test } from 'vitest';
import { findCpfs } from '../../src/contract/masking/cpf.ts';
import { masked, maskedEnd } from '../../src/contract/masking/masking.ts';
import { keptAnswer } from '../../src/delivery/sending/answer.ts';
import { WORST_PIECES } from '../support/worst-texts.ts';

type Method = 'charCodeAt' | 'codePointAt' | 'slice' | 'indexOf';

/** Has `look` told of each call of a text's method while `work` runs; no mock, which would keep ten million calls. */
function watching(
  method: Method,
  look: (given: string, from: number, result: unknown) => void,
  work: () => void,
): void {
  const original = Reflect.get(String.prototype, method) as (...args: readonly unknown[]) => unknown;
  const watched = function (this: string, ...args: readonly unknown[]): unknown {
    const result = Reflect.apply(original, this, args);
    look(this, Number(args[method === 'indexOf' ? 1 : 0] ?? 0), result);
    return result;
  };
  Reflect.defineProperty(String.prototype, method, { value: watched, writable: true, configurable: true });
  try {
    work();
  } finally {
    Reflect.defineProperty(String.prototype, method, { value: original, writable: true, configurable: true });
  }
}

/** Looks at characters while `work` runs: single ones, and those that a copy or a search passes. */
function looksOf(work: () => void): number {
  let looks = 0;
  const single = () => (looks += 1);
  const copied = (_: string, __: number, part: unknown) => (looks += 1 + String(part).length);
  const searched = (given: string, from: number, found: unknown) =>
    (looks += 1 + (found === -1 ? given.length : Number(found)) - from);
  watching('charCodeAt', single, () =>
    watching('codePointAt', single, () => watching('slice', copied, () => watching('indexOf', searched, work))),
  );
  return looks;
}

/** Each character is looked at this many times at most. */
const MOST = 150;

describe.each(Object.entries(WORST_PIECES))('of %s', (_, piece) => {
  const ofLength = (length: number) => `nome=${piece.repeat(Math.ceil(length / piece.length)).slice(0, length)}`;

  test.each([
    ['the mask', (text: string) => masked(text)],
    ['the mask behind a value', (text: string) => masked(text.slice(5))],
    ['the end of a cut text', (text: string) => maskedEnd(text)],
    ['the search for CPFs', (text: string) => findCpfs(text)],
    [
      'an answer that is kept',
      (text: string) => keptAnswer({ 'x-nome': text.slice(0, 4_000) }, Buffer.from(text), true),
    ],
  ] as const)('%s looks at each character a bounded number of times', (_name, read) => {
    for (const length of [4_096, 16_384, 65_536]) {
      const text = ofLength(length);
      expect(looksOf(() => void read(text)) / text.length).toBeLessThan(MOST);
    }
  });
});
