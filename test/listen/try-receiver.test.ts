/** `listen --homologar`: what it prints of a receiver. */
import { expect, test } from 'vitest';
import { tryReceiver } from '../../src/listen/try-receiver.ts';
import { SECRET } from '../support/conformance.ts';
import { BUGS, startFaultyReceiver } from '../support/faulty-receiver.ts';

async function printed(bug: (typeof BUGS)[string] | null) {
  const lines: string[] = [];
  const { url } = await startFaultyReceiver(SECRET, bug);
  const stopping = new AbortController().signal;
  const reported = await tryReceiver({
    url,
    secret: SECRET,
    print: (line) => void lines.push(line),
    stopping,
    idleMs: 1,
  });
  return { lines, ...reported };
}

test('a sound receiver passes, a line for each check', async () => {
  const { lines, failed } = await printed(null);
  expect([failed, lines.at(-1)]).toEqual([0, '29 passed, 0 failed, 0 do not apply']);
  expect(lines[0]).toBe('pass  propria: Takes a delivery of ours');
});

test('what fails is told with what came and how to mend it', async () => {
  const { lines, failed } = await printed(BUGS['breaks on null'] ?? null);
  expect(failed).toBe(1);
  expect(lines.find((line) => line.startsWith('FAIL'))).toMatch(
    /^FAIL {2}nulo: Takes null\n {6}We sent: .* There came: 500 \(\d+ ms\)\. How to mend it: /,
  );
});
