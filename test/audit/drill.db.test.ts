/** The exercise finds what is wrong: a month's altered file, a changed attempt, a head that the log does not lead to. */
import { readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { backdateSeals } from '../support/backdated-seals.ts';
import { callCommand, sandboxOn } from '../support/command.ts';
import { createTestDatabase } from '../support/database.ts';
import { live } from '../support/lived-database.ts';
import { startReceiver, status } from '../support/receiver.ts';
import { untilSettled } from '../support/settled.ts';
import { isThere } from '../support/snippets.ts';
import { makeTestFolder } from '../support/test-folder.ts';
import { sealAll } from '../../src/audit/seals/sealer.ts';

const { sql, pool, url } = await createTestDatabase();
const folder = await makeTestFolder();
const receiver = await startReceiver();
receiver.answerWith(status(200));
await live(pool, sql, receiver);
await receiver.close();
await untilSettled(sql);
await sealAll(pool);
await backdateSeals(pool, new Date('2026-01-20T12:00:00Z'));
const env = { ...sandboxOn(url), DATA_DIR: folder.path, LOG_LEVEL: 'error' };
const call = (...words: string[]) => callCommand(words, env);
const drill = async (...words: string[]) => {
  const { code, stdout, stderr } = await call('audit', 'drill', ...words);
  expect(stderr).toBe('');
  return { code, ...(JSON.parse(stdout) as { faltas: string[]; provas: object; confere: boolean }) };
};

test('all holds; then an altered file, a changed attempt and another head are told', async () => {
  expect((await call('audit', 'seal')).code).toBe(0);
  const archived = path.join(folder.path, 'archive');
  expect((await call('archive', '2026-01', '--to', archived)).code).toBe(0);
  const head = (await call('audit', 'head')).stdout.trim();
  const whole = await drill('--kept', head);
  const hasPhp = await isThere(['php', '--version']);
  expect(whole).toMatchObject({
    code: 0,
    confere: true,
    mes: '2026-01',
    provas: { propria: true, python: true, php: hasPhp ? true : null },
    guardada: true,
    faltas: [],
  });
  await sql`update attempts set status_code = 204 where status_code = 200`;
  const names = await readdir(path.join(archived, '2026-01'));
  await writeFile(path.join(archived, '2026-01', names.find((name) => name.startsWith('events')) ?? ''), 'x');
  const { code, faltas } = await drill('--kept', `1:${'0'.repeat(64)}`);
  expect(code).toBe(1);
  expect(faltas.join('\n')).toMatch(
    /^2026-01: .*was altered[^]*the proof of [^]*Python verifier[^]*the kept head of 1 seals/,
  );
});
