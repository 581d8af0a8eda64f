/** What a receiver gives back of a secret, however hostile both are. */
import { assert, constantFrom, property, string } from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { MASK } from '../../../src/contract/masking/masking.ts';
import { echoesOf, withoutEchoes } from '../../../src/delivery/sending/echoes.ts';

const SECRET = 'um segredo "com" aspas';

test.each(echoesOf([SECRET]))('%s is masked, whole and cut', (form) => {
  const echoes = echoesOf([SECRET]);
  expect(withoutEchoes(`antes ${form}, depois ${form}`, echoes)).toBe(`antes ${MASK}, depois ${MASK}`);
  expect(withoutEchoes(`antes ${form.slice(0, -1)}`, echoes)).toBe(`antes ${MASK}`);
});

test('fewer than four characters of a secret, and a secret of so few, are left', () => {
  expect(withoutEchoes('um  um ', echoesOf([SECRET, 'abc']))).toBe('um  um ');
  expect(withoutEchoes('abc', echoesOf(['abc']))).toBe('abc');
});

test('no echo is left, whatever the texts, and nothing else is taken', () => {
  const letters = (longest: number) => string({ unit: constantFrom('a', 'b'), minLength: 4, maxLength: longest });
  assert(
    property(letters(12), letters(80), (echo, answer) => {
      const parts = answer.split(echo);
      const end = parts.pop() ?? '';
      const cut = Math.max(
        0,
        ...Array.from({ length: echo.length }, (_, n) => (end.endsWith(echo.slice(0, n)) ? n : 0)),
      );
      const last = cut < 4 ? end : end.slice(0, end.length - cut) + MASK;
      expect(withoutEchoes(answer, [echo])).toBe([...parts, last].join(MASK));
    }),
    { numRuns: 2_000 },
  );
});

describe('each character is looked at a bounded number of times', () => {
  const a = (count: number) => 'a'.repeat(count);
  test.each([
    [`${a(4_000)}b${a(4_000)}`, a(12_500)],
    [`${a(4_000)}b${a(4_000)}`, `${a(12_500)}c`],
    [`b${a(8_000)}`, a(12_500)],
    [`${a(8_000)}b`, `${a(12_500)}c`],
    ['ab'.repeat(4_000), 'ab'.repeat(6_200)],
  ])('of a secret %.20s… and an answer %.5s…', (secret, answer) => {
    const looks = vi.spyOn(String.prototype, 'charCodeAt');
    try {
      withoutEchoes(answer, [secret]);
      expect(looks.mock.calls.length).toBeLessThan(5 * (secret.length + answer.length));
    } finally {
      looks.mockRestore();
    }
  });
});
