/** A restored copy that must not deliver at once, and an output that nobody reads to its end. */
import { expect, test } from 'vitest';
import { callCommand, runCommand, sandboxOn, startProgram } from '../support/command.ts';
import { createTestDatabase } from '../support/database.ts';
import { commitEvents, insertPartner } from '../support/outbox.ts';

const database = await createTestDatabase();

test('with QUARANTINE nothing starts that serves or delivers, and each says how far the log goes', async () => {
  await commitEvents(database.sql, await insertPartner(database.sql), 1);
  const env = sandboxOn(database.url, { QUARANTINE: 'true' });
  for (const command of ['poll', 'api']) {
    const { code, stderr } = await runCommand([command], env);
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/^carteiro: QUARANTINE is true, .* event is of 20\d\d-/m),
    ]);
  }
  const { stdout } = await callCommand(['doctor', '--json'], env);
  expect(stdout).toMatch(/the newest event is of 20[^,]+, the newest attempt not there/);
});

test('a reader that has seen enough ends a command without a stack', async () => {
  const main = new URL('../../src/main.ts', import.meta.url).pathname;
  const words = ['sh', '-c', `${process.execPath} ${main} --help | head -n 1`];
  const { code, stderr } = await startProgram(words, {}).end();
  expect([code, stderr]).toEqual([0, '']);
});
