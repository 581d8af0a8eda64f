import { report as ask } from '../../../audit/report.ts';
import { addDays, dayOf, startOfDay } from '../../../contract/calendar.ts';
import { indexWorkers } from '../../../core/workers/worker-index.ts';
import { digestOf } from '../../../core/workers/worker-key.ts';
import { command, option } from '../../command.ts';
import { readCpf, readDay } from '../../arguments.ts';
import { withJobPool } from '../../job-pool.ts';
import { json, printResult } from '../../operator.ts';
import { needWorkerKey } from '../worker.ts';

export const report = command({
  summary: 'answer the questions of a supervisor',
  options: {
    cpf: option(
      '--cpf <cpf>',
      'the CPF of question 1, - reads it from standard input; without it, all reads are listed',
      readCpf,
    ),
    day: option(
      '--day <day>',
      'the day of São Paulo of questions 2, 12 and 13, AAAA-MM-DD; today unless given',
      readDay,
    ),
    json,
  },
  help: `
Twenty questions that a supervisor, a data protection officer or a judge asks of webhooks. Each answer is a line with the time that
it is of, the newest first, 20 at most; "none" where nothing of the kind happened. "look" is where all of them are: a command of this
command line, or a call of the API. src/audit/SUPERVISION.md is the page of them. A CPF needs the key of WORKER_KEY_FILE.

Output: text; with --json a list: [{"numero": 15, "pergunta": "…", "respostas": [{"em": "2026-01-31T…",
"texto": "0 findings over 1000448 rows"}], "mais": false, "onde": ["audit verify"]}]; em is null where nothing of the kind happened.`,
  exits: { done: 'each question was answered' },
  async run({ cpf, day, json }, line) {
    const { config } = line.configure();
    const key = cpf === undefined ? null : await needWorkerKey(config);
    const asked = await withJobPool(line, async (pool) => {
      if (key !== null) await indexWorkers(pool, key);
      return pool.run(async (sql) => {
        const [{ now }] = await sql<[{ now: Date }]>`select clock_timestamp() as now`;
        const from = day ?? dayOf(now);
        const about = {
          digest: key === null ? null : digestOf(key, cpf ?? ''),
          from: startOfDay(from),
          until: startOfDay(addDays(from, 1)),
          rolePrefix: config.databaseRolePrefix,
        };
        return { now, from, answered: await ask(sql, about) };
      });
    });
    const answered = asked.answered.map(({ question, where, none, answers, hasMore }, index) => {
      const reported = answers.map(({ at, answer }) => ({ em: at.toISOString(), texto: answer }));
      const respostas = reported.length > 0 ? reported : [{ em: null, texto: `none: ${none}` }];
      return { numero: index + 1, pergunta: question, respostas, mais: hasMore, onde: where };
    });
    const head = `asked at ${asked.now.toISOString()}; the day is ${asked.from} of São Paulo${cpf === undefined ? '' : ', the CPF the one that was given'}`;
    const text = answered.map(({ numero, pergunta, respostas, mais, onde }) =>
      [
        '',
        `${numero}. ${pergunta}`,
        ...respostas.map(({ em, texto }) => `   ${em === null ? '' : `${em}  `}${texto}`),
        ...(mais ? ['   and older ones'] : []),
        `   look: ${onde.join('; ')}`,
      ].join('\n'),
    );
    printResult(line, json, answered, [head, ...text].join('\n'));
  },
});
