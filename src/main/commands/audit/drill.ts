import { readHead } from '../../arguments.ts';
import { command, option } from '../../command.ts';
import { runJob } from '../../job-pool.ts';

export const drill = command({
  summary: 'exercise what would be needed on a bad day: an archived month, a proof, the verifiers, a kept head',
  options: {
    kept: option('--kept <head>', 'a head that a receiver or a place outside kept', readHead),
  },
  help: `
Chance picks an archived month, whose files are read and hashed as archive verify does, and of whose attempts PostgreSQL makes rows
as archive restore does: each must be the sealed one; nothing is written. And a delivery that arrived, whose proof is made and judged
by audit check and, where there are Python and PHP, by the verifiers beside it. --kept is held against the log.

Output: {"mes": "2026-10", "restaurado": {"linhas": 500224, "segundos": 71.3}, "entrega": "019a…",
  "provas": {"propria": true, "python": true, "php": null}, "guardada": null, "faltas": [], "confere": true};
null: there was nothing of the kind to exercise.`,
  exits: { done: 'all that could be exercised holds', refused: 'something does not: faltas says what' },
  async run({ kept = null }, line) {
    const { holdDrill } = await import('../../../audit/drill.ts');
    const { tryRestore } = await import('../../../archive/try-restore.ts');
    const { verifyMonth } = await import('../../../archive/verify-month.ts');
    const { archiveReads, placesOf } = await import('../../service/archives.ts');
    const { readCheckpointKeys } = await import('../../service/key-files.ts');
    return runJob(line, async (pool, { config }) => {
      const openPlace = await placesOf(config);
      const found = await holdDrill(pool, {
        kept,
        keys: (await readCheckpointKeys(config)).verifiers,
        delivery: (await archiveReads(config, pool)).delivery,
        tryRestore: async (month) => tryRestore(pool, openPlace, await verifyMonth(pool, openPlace, month)),
      });
      return { summary: { ...found, confere: found.faltas.length === 0 }, isGood: found.faltas.length === 0 };
    });
  },
});
