import { logFailedTry } from '../../db/outage-log.ts';
import { command } from '../command.ts';
import { runJob } from '../job-pool.ts';
import { author } from '../operator.ts';

export const maintain = command({
  summary: 'archive the months that are older than KEEP_MONTHS, verify them, and remove their rows',
  options: { author },
  help: `
First it writes the archived months again that have a text of a worker who was forgotten since, and removes their older files. That is
all where KEEP_MONTHS is not set. Else it removes idempotency keys of that age, but those of loans, which never expire. Then, oldest first, of each month that ended more than KEEP_MONTHS months ago: writes it to ARCHIVE_TO unless it is archived, reads its
files again and compares them with the seals, registers the removal, waits until that is sealed, and removes the ended deliveries and
their attempts in batches. A delivery that waits, or that was sent again since, stays. Last go the events of loans that have been over
since before these months, each loan's all together: cancelled, with its last installment in a closed month, or closed by an end of bond
with nothing outstanding. They come back for whoever needs them. Other events, orders and seals stay.

A run that was cut short, at any point, is run again. A place that is full or away, or a file that was altered, ends the run before
anything of its month is removed. api runs this every night (JOB_MAINTAIN), and when a worker was forgotten.

Output: {"meses": [{"mes": "2025-10", "linhas": 1000448}], "reescritos": [], "chaves": 0, "emprestimos": 0}, the months that
this run removed, those that it wrote again, how many keys it removed, and of how many loans the events left.`,
  exits: {
    done: 'no row of an older month is left that could go',
    refused: 'a month could not go: standard error says why',
  },
  async run({ author: actor }, line) {
    const { config, log } = line.configure();
    const { keepMonths, archiveTo: to } = config;
    const upkeep = keepMonths === null || to === null ? null : { keepMonths, to };
    const { maintainMonths } = await import('../../archive/maintain.ts');
    const { placesOf } = await import('../service/archives.ts');
    const { readCheckpointKeys } = await import('../service/key-files.ts');
    const { sealAll } = await import('../../audit/seals/sealer.ts');
    const openPlace = await placesOf(config);
    const { signers } = await readCheckpointKeys(config);
    return runJob(line, async (pool, { progress }) => {
      // A server on which nobody may create anything for now: the next night will do, for a year.
      await pool
        .run((sql) => sql`select make_loan_numbers()`)
        .catch((error: unknown) => logFailedTry(log, error, 'the counters of loan numbers are made the next night'));
      const seal = async () => void (await sealAll(pool));
      const onProgress = (month: string, rows: number) => progress.show(`${month}: ${rows} rows`);
      const work = { pool, openPlace, signers, actor, seal, onProgress, upkeep };
      const { erased, keys, removed, loans } = await maintainMonths(work);
      const meses = removed.map(({ month, rows }) => ({ mes: month, linhas: rows }));
      return { summary: { meses, reescritos: erased, chaves: keys, emprestimos: loans }, isGood: true };
    });
  },
});
