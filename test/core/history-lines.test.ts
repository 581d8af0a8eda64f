/** How the lines of a history's file are read in batches. */
import { expect, test } from 'vitest';
import { batchesOf, type HistoryLine } from '../../src/core/history/history-lines.ts';

const ONE = '{"stream":"0198c0de-0000-7000-8000-000000000001"}';

async function sizesOf(texts: readonly string[], size: number): Promise<number[]> {
  async function* lines(): AsyncGenerator<HistoryLine> {
    for (const [index, text] of texts.entries()) yield { number: index + 1, text };
  }
  const sizes: number[] = [];
  for await (const batch of batchesOf(lines(), size)) sizes.push(batch.length);
  return sizes;
}

test('a batch ends with a loan, and at 8 MiB whatever stands in it', async () => {
  const [other, long] = [ONE.replace('1"', '2"'), `${' '.repeat(2 ** 21)}${ONE}`];
  expect(await sizesOf([ONE, ONE, ONE, other, other], 2)).toEqual([3, 2]);
  expect(await sizesOf([long, long, long, long, long], 500)).toEqual([4, 1]);
});
