import { InvalidArgumentError } from 'commander';
import type { Config } from '../../config.ts';
import { TIMES_S } from '../../contract/delivery.ts';
import { COURT_ORDER } from '../../contract/resources/worker-resource.ts';
import { eraseAll, readErasure } from '../../core/workers/erase.ts';
import { findWorker } from '../../core/workers/find-worker.ts';
import { orderErasure } from '../../core/workers/order-erasure.ts';
import { indexWorkers } from '../../core/workers/worker-index.ts';
import type { WorkerKey } from '../../core/workers/worker-key.ts';
import { actorOf } from '../../admin/author.ts';
import { command, flag, type Group, option, Refusal, UsageError } from '../command.ts';
import { readCpf } from '../arguments.ts';
import { author, json, requiredReason, operate, printResult } from '../operator.ts';
import { orRefuse } from '../refused.ts';
import { table } from '../table.ts';
import { readWorkerKey } from '../service/key-files.ts';
import { openFiles } from './archive.ts';

/** Without it no worker is found by CPF. */
export async function needWorkerKey(config: Config): Promise<WorkerKey> {
  const key = await readWorkerKey(config);
  if (key === null) throw new UsageError('WORKER_KEY_FILE is required: name the file of the key that api has');
  return key;
}

function readCourtOrder(text: string): string {
  if (!COURT_ORDER.test(text))
    throw new InvalidArgumentError('Give a number as the court writes it: digits, dots, dashes and slashes.');
  return text;
}

const show = command({
  summary: 'find a worker by CPF: the loans, and from when on the worker can be forgotten',
  takes: { cpf: { about: 'the worker’s, 11 digits; - reads it from standard input', read: readCpf } },
  options: { json },
  help: `
Finds by a keyed digest: the key is in WORKER_KEY_FILE, and without it nobody can tell whose a digest is. Shows no personal
data. A worker who was forgotten is not found any more.

Output: text; with --json {"events": 12, "loans": [{"id": "0199…", "partnerId": "0199…", "number": "2026-00000001",
"status": "desembolsada", "endedOn": null, "mayBeErasedFrom": null}]}; endedOn is null while the loan is open.`,
  exits: { done: 'it was found', refused: 'nothing is kept under the CPF' },
  async run({ cpf, json }, line) {
    const { config } = line.configure();
    const key = await needWorkerKey(config);
    const found = await operate(line, async (pool) => {
      await indexWorkers(pool, key);
      return pool.run((sql) => findWorker(sql, key, cpf, config.eraseAfterYears));
    });
    const { events, loans } = found;
    if (events.length === 0) throw new Refusal('nothing is kept under this CPF');
    const rows = loans.map(({ id, number, status, endedOn, mayBeErasedFrom, partnerId }) => {
      const [ended, erasable] = [endedOn ?? 'open', mayBeErasedFrom ?? ''];
      return { loan: id, number, status, ended, erasable, partner: partnerId };
    });
    const text = [`${events.length} events`, ...(rows.length === 0 ? ['no loan'] : [table(rows)])].join('\n');
    printResult(line, json, { events: events.length, loans }, text);
  },
});

const erase = command({
  summary: 'forget a worker: overwrite what is kept of the person, for good',
  takes: { cpf: { about: 'the worker’s, 11 digits; - reads it from standard input', read: readCpf } },
  options: {
    reason: requiredReason,
    order: option(
      '--order <number>',
      'a court’s order, which no loan and no legal period stands against',
      readCourtOrder,
    ),
    later: flag('--later', 'leave the work to api, which does it by itself; without it the command does it'),
    author,
    json,
  },
  help: `
Every text that tells of the worker becomes apagado: in the log, the answers to deliveries, loans, margin queries, bonds,
documents and kept answers to idempotency keys. Ids, versions, amounts, days and statuses stay, and so do the seals: audit
verify and the balance hold, and proofs say by which order and when. It cannot be undone. Backups keep what they have until
you delete them. Archived months that have a text are written again without it (by api's order: by its job maintain, at once).

It is refused while a loan of the worker is open, or ended less than ERASE_AFTER_YEARS ago (5 unless set); --order tells the
number of a court's order, against which nothing stands. It writes one order, which is sealed and lists the events, and then
works through the list, 50 events a transaction. Whatever stops it, the same command goes on, and so does api by itself.
Where the CPF stands in a text of another worker's event, only it becomes apagado there: that worker's loan, documents and keys
stay, and the output names the event. What was still to be sent ends as erro. It waits for POSTs under way, ${TIMES_S.lease} s at most.

The CPF you type may stay in your shell's history.

Output: a sentence; with --json {"order": "0199…", "events": 12, "of_others": [], "done": true, "archived": ["2025-08"]}`,
  exits: {
    done: 'the worker was forgotten; with --later, it was ordered',
    refused: 'nothing is kept under the CPF, a loan is open, or the legal period runs',
  },
  async run({ cpf, reason, order: courtOrder = null, later, author, json }, line) {
    const { eraseInMonths } = await import('../../archive/erase-months.ts');
    const key = await needWorkerKey(line.configure().config);
    await operate(line, async (pool, { config, progress }) => {
      const actor = actorOf(author);
      const years = config.eraseAfterYears;
      const ordered = await orderErasure(pool, key, { cpf, actor, reason, courtOrder, years });
      const { id, events, ofOthers } = orRefuse(ordered, 'worker', '');
      const show = async (): Promise<void> => {
        const state = await pool.run((sql) => readErasure(sql, id));
        progress.show(`${state?.pagesDone ?? 0} of ${state?.pages ?? 0} pages erased`);
      };
      if (!later) await eraseAll(pool, show);
      const state = await pool.run((sql) => readErasure(sql, id));
      const isDone = state !== null && state.doneAt !== null;
      const months = isDone ? await eraseInMonths({ pool, ...(await openFiles(config)), actor }) : [];
      const written = months.length === 0 ? '' : `; archived months written again: ${months.join(', ')}`;
      const others =
        ofOthers.length === 0 ? '' : `; in events of other workers only the CPF was replaced: ${ofOthers.join(', ')}`;
      const text = isDone
        ? `erased: ${events} events, by order ${id}${written}${others}`
        : `ordered: ${events} events, by order ${id}; api does the work${others}`;
      printResult(line, json, { order: id, events, of_others: ofOthers, done: isDone, archived: months }, text);
    });
  },
});

export const worker: Group = { about: '', commands: { show, erase } };
