/** The supervisor's questions: the page has each, and each is answered on a database that lived. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { QUESTIONS } from '../../src/audit/report.ts';
import { sealAll } from '../../src/audit/seals/sealer.ts';
import { callCommand, sandboxOn } from '../support/command.ts';
import { createTestDatabase } from '../support/database.ts';
import { live } from '../support/lived-database.ts';
import { startReceiver, status } from '../support/receiver.ts';
import { untilSettled } from '../support/settled.ts';

const { sql, pool, url } = await createTestDatabase();
const receiver = await startReceiver();
receiver.answerWith(status(200));
await live(pool, sql, receiver);
await receiver.close();
await untilSettled(sql);
await sealAll(pool);

test('the page has each question, in order, with where to look', async () => {
  const page = await readFile(path.resolve(import.meta.dirname, '../../src/audit/SUPERVISION.md'), 'utf8');
  const rows = QUESTIONS.map(
    ({ question, where }, index) =>
      `| ${index + 1} | ${question} | ${where
        .split('; ')
        .map((one) => `\`${one}\``)
        .join(', ')} |`,
  );
  expect(rows).toHaveLength(20);
  expect(page).toContain(rows.join('\n'));
});

test('audit report answers each from the database; what never happened is null', async () => {
  await sql`
    insert into verify_verdicts (since, seals, rows, size, root, findings, found, finished) values (0, 1, 7, 1, sha256('x'), 0, '[]', true)`;
  const report = async () => {
    const { code, stdout, stderr } = await callCommand(['audit', 'report'], { ...sandboxOn(url), LOG_LEVEL: 'error' });
    expect([code, stderr]).toEqual([0, '']);
    return stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { pergunta: string; resposta: string | null; em: string | null });
  };
  const answers = await report();
  expect(answers.map(({ pergunta }) => pergunta)).toEqual(QUESTIONS.map(({ question }) => question));
  const of = (question: string) => answers.find(({ pergunta }) => pergunta === question);
  expect(of('Was the log changed?')).toMatchObject({
    resposta: '0 findings over 7 rows',
    em: expect.any(String) as string,
  });
  expect(of('Who may do what?')?.resposta).toContain('carteiro_');
  const restore = 'When was a restore last proven?';
  expect(of(restore)).toMatchObject({ resposta: null, em: null });
  await sql`
    insert into scheduled_jobs (name, started_at, ended_at, succeeded_at, exit_code, result)
    values ('drill', now(), now(), now(), 0, '{"mes": "2026-01", "restaurado": {"linhas": 8, "segundos": 0.1}, "confere": true}')
    on conflict (name) do update set succeeded_at = now(), exit_code = 0, result = excluded.result`;
  expect((await report()).find(({ pergunta }) => pergunta === restore)?.resposta).toBe(
    '2026-01: 8 rows were made again by the drill',
  );
});
