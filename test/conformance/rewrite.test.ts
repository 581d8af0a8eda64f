/** What the checks take for the JSON of Python and PHP is what those write. */
import { expect, test, type TestContext } from 'vitest';
import { unusualBody, WRITERS } from '../../src/conformance/checks.ts';
import { signingKey } from '../../src/delivery/sending/signature.ts';
import { SECRET } from '../support/conformance.ts';
import { isThere, run } from '../support/snippets.ts';

const key = signingKey(SECRET);
const { body } = unusualBody({
  partnerId: '019a6e0b-7f3c-7d52-9a41-5c1d2e3f4a5b',
  event: 'averbacao.concluida',
  key,
  previous: null,
  strange: key,
  now: () => new Date('2026-01-31T12:00:00Z'),
});

async function writtenBy(command: readonly [string, ...string[]], context: TestContext): Promise<string> {
  if (!(await isThere([command[0], '--version']))) context.skip(`there is no ${command[0]} on this machine`);
  return run(command, '/', body);
}

test.for([
  ['its defaults', 'json.dumps(given)'],
  ['no blanks', 'json.dumps(given, separators=(",", ":"))'],
  ['Unicode as it is', 'json.dumps(given, ensure_ascii=False)'],
] as const)('Python with %s', async ([, dumps], context) => {
  const program = `import json, sys\ngiven = json.loads(sys.stdin.buffer.read())\nsys.stdout.buffer.write(${dumps}.encode())`;
  const written = await writtenBy(['python3', '-c', program], context);
  expect(written).not.toBe(body);
  expect(WRITERS.python.map((write) => write(JSON.parse(body)))).toContain(written);
});

test('PHP', async (context) => {
  const program = 'echo json_encode(json_decode(stream_get_contents(STDIN)));';
  const written = await writtenBy(['php', '-r', program], context);
  expect(written).not.toBe(body);
  expect(WRITERS.php.map((write) => write(JSON.parse(body)))).toContain(written);
});
