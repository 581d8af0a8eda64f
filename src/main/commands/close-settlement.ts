import { readMonth, readSeconds } from '../arguments.ts';
import { command, optionOr, UsageError } from '../command.ts';
import { runJob } from '../job-pool.ts';

const LEFT_TO_THE_CORE =
  'LOAN_CORE is outside, so the core closes its months (POST /v1/nucleo/repasses, or append_event of repasse.processado); nothing was closed';

export const closeSettlement = command({
  summary: 'close the monthly batch of every active partner',
  takes: { month: { about: 'the month, which must be over', read: readMonth, shown: 'AAAA-MM' } },
  options: {
    wait: optionOr('--wait <seconds>', 'how long to wait until the projector has passed the month', readSeconds, 60),
  },
  help: `
Counts the installments of that month of each active partner's disbursed loans, keeps them as settled, and emits
repasse.processado, with zeros for a partner that has none. A month can be closed when it is over in São Paulo, and when
every transaction that had begun to write before its end is in the projection: the command brings the projection up to date
itself, and waits --wait seconds for transactions that are still open. Closing it again changes nothing and says so, also when two machines close it at once. api runs it by itself (JOB_CLOSE_SETTLEMENT).
With LOAN_CORE=outside it ends with 2: the core closes its months.

Output: {"month": "2026-06", "partners": 3, "closed": 2, "alreadyClosed": 1, "failed": []}; failed holds partners' ids.`,
  exits: {
    done: 'the month is closed for all',
    refused:
      'it is not over, the projector could not pass its end (the message names the transaction that is open), or a\n' +
      '              partner failed; run it again for those',
  },
  async run({ month, wait }, line) {
    if (line.configure().config.loanCore === 'outside') throw new UsageError(LEFT_TO_THE_CORE);
    const { closeForAll } = await import('../close-month.ts');
    return runJob(line, (pool, around) => closeForAll(pool, { month, waitMs: wait * 1_000 }, around));
  },
});
