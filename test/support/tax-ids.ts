/** As many valid CPFs as a test wants. */

function digitAfter(digits: string): number {
  const sum = Array.from(digits).reduce(
    (before, digit, index) => before + Number(digit) * (digits.length + 1 - index),
    0,
  );
  return ((sum * 10) % 11) % 10;
}

/** The CPF of worker number `n`, 1 to 999,999,998. */
export function cpfOf(n: number): string {
  const base = String(n).padStart(9, '0');
  const first = `${base}${digitAfter(base)}`;
  return `${first}${digitAfter(first)}`;
}
