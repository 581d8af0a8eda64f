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
import { type MonthAct, readMonth } from '../../src/archive/acts.ts';
import { openPlace } from '../../src/archive/place.ts';
import { tryRestore } from '../../src/archive/try-restore.ts';
import { sealAll } from '../../src/audit/seals/sealer.ts';
import type { Pool, Tx } from '../../src/db/pool.ts';

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

const archived = path.join(folder.path, 'archive');
for (const words of [
  ['audit', 'seal'],
  ['archive', '2026-01', '--to', archived],
]) {
  const { code, stderr } = await call(...words);
  if (code !== 0) throw new Error(stderr);
}

test('rows of which PostgreSQL makes others than were sealed are not taken for restored', async () => {
  const act = (await pool.run((tx) => readMonth(tx, '2026-01'))) as MonthAct;
  const places = () => openPlace(act.place, null);
  expect(await tryRestore(pool, places, act)).toBeGreaterThan(0);
  const rounding = {
    run: (work: (tx: Tx) => Promise<never>) =>
      pool.transaction(async (tx) => {
        await tx`create temp table attempts (like carteiro.attempts) on commit drop`;
        await tx`set local search_path = pg_temp, carteiro`;
        await tx`alter table pg_temp.attempts alter recorded_at type timestamptz(0)`;
        return work(tx);
      }),
  } as unknown as Pool;
  await expect(tryRestore(rounding, places, act)).rejects.toThrow(/makes other rows of it than were sealed/);
});

test('where there is nothing to exercise yet, the drill says so and is no failure', async () => {
  const { url } = await createTestDatabase();
  const { code, stdout } = await callCommand(['audit', 'drill'], { ...env, ...sandboxOn(url) });
  expect([code, JSON.parse(stdout)]).toMatchObject([0, { mes: null, entrega: null, confere: null }]);
});

test('all holds; then an altered file, a changed attempt and another head are told', async () => {
  const head = (await call('audit', 'head')).stdout.trim();
  const whole = await drill('--kept', head);
  const [{ tried }] = await sql<[{ tried: number }]>`select count(*)::int as tried from attempts`;
  const hasPhp = await isThere(['php', '--version']);
  expect(whole).toMatchObject({
    code: 0,
    confere: true,
    mes: '2026-01',
    restaurado: { linhas: tried },
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
