import { command, Refusal } from '../../command.ts';
import { table } from '../../table.ts';
import { json, tell } from '../../operator.ts';
import { readCpf, withWorkerKey } from '../../worker.ts';

export const show = command({
  summary: 'find a worker by CPF: the loans, and from when on the worker can be forgotten',
  takes: { cpf: { about: 'the worker’s, 11 digits', read: readCpf } },
  options: { json },
  help: `
Finds by a keyed digest: the key is in WORKER_KEY_FILE, and without it nobody can tell whose a digest is. Shows no personal
data. A worker who was forgotten is not found any more.

Output: text; with --json {"events": 12, "loans": [{"id": "0199…", "partnerId": "0199…", "number": "2026-00000001",
"status": "desembolsada", "endedOn": null, "mayBeErasedFrom": null}]}; endedOn is null while the loan is open.`,
  exits: { done: 'it was found', refused: 'nothing is kept under the CPF' },
  async run({ cpf, json }, line) {
    const { findWorker } = await import('../../../core/workers/find-worker.ts');
    const { indexWorkers } = await import('../../../core/workers/worker-index.ts');
    const found = await withWorkerKey(line, async (pool, key, { config }) => {
      await indexWorkers(pool, key);
      return pool.run((sql) => findWorker(sql, key, cpf, config.eraseAfterYears));
    });
    const { events, loans } = found;
    if (events.length === 0) throw new Refusal('nothing is kept under this CPF');
    const rows = loans.map(({ id, number, status, endedOn, mayBeErasedFrom, partnerId }) => {
      return {
        loan: id,
        number,
        status,
        ended: endedOn ?? 'open',
        erasable: mayBeErasedFrom ?? '',
        partner: partnerId,
      };
    });
    const text = [`${events.length} events`, ...(rows.length === 0 ? ['no loan'] : [table(rows)])].join('\n');
    tell(line, json, { events: events.length, loans }, text);
  },
});
