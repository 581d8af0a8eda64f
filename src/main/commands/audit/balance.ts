import { addUp } from '../../../audit/add-up-balance.ts';
import { keepBalanceVerdict } from '../../../audit/balance-verdicts.ts';
import { readBalance } from '../../../audit/balance.ts';
import { keepDays, refreshKeptDays } from '../../../audit/kept-days.ts';
import { findRemoved } from '../../../audit/removed-days.ts';
import { TEST_NAME } from '../../../contract/delivery.ts';
import type { Pool } from '../../../db/pool.ts';
import { readDay } from '../../arguments.ts';
import { command, flag, required, UsageError } from '../../command.ts';
import { type Around, type JobResult, keeping, READING, runJob } from '../../job-pool.ts';
import { orRefuse } from '../../refused.ts';
import { MOST } from '../../service/pools.ts';
import { withReports } from '../../service/reports.ts';

export const balance = command({
  summary: 'prove the deliveries from the events and the webhooks’ history',
  options: {
    from: required('--from <day>', 'the first day, AAAA-MM-DD', readDay),
    to: required('--to <day>', 'the last day', readDay),
    anew: flag('--anew', 'count kept days again, too'),
  },
  help: `
By partner and day of São Paulo: events × webhooks subscribed when each was appended = entregue + pendente + erro +
suspensa. The left side comes from the events and the webhooks' history, never from the deliveries. ${TEST_NAME}
and notices stand outside. fato_inesperado is an event that our own core would not have written where it lies in its stream; it is
listed, and the balance closes all the same.

A day that closed and has nothing pending is kept with the seals that it rests on, and answered as it was kept until an event, an order or
a late report of that day comes; guardados says how many. --anew reads every row again: do so where you doubt whoever owns the database.
A day that would be counted, and has rows in an archive alone, is refused: archive restore brings its month back.
api runs it by itself every night for the last seven days (JOB_BALANCE).

Output: as GET /v1/auditoria/balanco answers, with every difference.`,
  exits: { done: 'it closes', refused: 'there is a difference, or a month must be restored first' },
  async run({ from, to, anew }, line) {
    if (from > to) throw new UsageError('--to: must not be before --from');
    const count = async (pool: Pool, { config, log, progress }: Around): Promise<JobResult> => {
      const [kept, summary] = await withReports(config, pool, log, async (reading) => {
        orRefuse(await findRemoved(reading.pool, from, to, { anew }), 'delivery', '');
        const unchanged = await keeping(log, () => refreshKeptDays(pool, reading.pool));
        const slices = readBalance(reading.pool, from, to, { anew, atOnce: MOST.job });
        return [
          unchanged,
          await addUp(slices, from, to, Infinity, (day) => progress.show(`${day} is counted`)),
        ] as const;
      });
      await keeping(log, async () => {
        await pool.run((sql) => keepBalanceVerdict(sql, summary));
        if (kept?.seal) await keepDays(pool, kept.seal, summary, new Date(), anew ? undefined : kept.still);
      });
      return { summary, isGood: summary.fecha };
    };
    return runJob(line, count, READING);
  },
});
