import { command } from '../../command.ts';
import { withJobPool } from '../../job-pool.ts';

export const report = command({
  summary: 'answer the questions of a supervisor',
  help: `
Twenty questions that a supervisor, a data protection officer or a judge asks of webhooks: the answer now, the time that it is
of, and the command or call that shows all of it. src/audit/SUPERVISION.md is the page of them.

Output: one line of JSON for each: {"pergunta": "…", "resposta": "0 findings over 1000448 rows", "em": "2026-01-31T…", "onde": "audit verify; …"};
resposta and em are null where nothing of the kind happened yet.`,
  exits: { done: 'each question was answered' },
  async run(_, line) {
    const { report: ask } = await import('../../../audit/report.ts');
    const answers = await withJobPool(line, (pool) => pool.run(ask));
    for (const { question, answer, at, where } of answers)
      line.print(JSON.stringify({ pergunta: question, resposta: answer, em: at?.toISOString() ?? null, onde: where }));
  },
});
