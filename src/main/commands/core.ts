import { addMonths, startOfDay } from '../../contract/calendar.ts';
import { projectUntil } from '../../core/projection/projector.ts';
import { rebuildLoans } from '../../core/projection/rebuild.ts';
import type { Pool } from '../../db/pool.ts';
import { isUnavailable } from '../../db/unavailable.ts';
import { readClock } from '../../log/read.ts';
import { NotAsked, RegistryFailure } from '../../registry/port.ts';
import { readMonth, readSeconds } from '../arguments.ts';
import { command, flag, optionOr, OutOfReach, Refusal, UsageError } from '../command.ts';
import { type Around, type JobResult, runJob } from '../job-pool.ts';

const NOT_CONFIGURED =
  'no registry is configured, so nothing was asked: set REGISTRY_URL to the bridge to the registry';

export const syncBonds = command({
  summary: 'the nightly sync: detect ends of bonds and rehires that the registry knows of',
  help: `
Asks the registry what it came to know about workers' bonds since the last run (and 48 hours before that), closes the
loans of workers whose bond ended (trabalhador.desligado), and tells of workers that were hired anew after that
(trabalhador.vinculo_novo). Each record is detected once: run it as often as you like, on as many machines as you like.
api runs it by itself (JOB_SYNC_BONDS), with LOAN_CORE=outside only where that is set.

Output: {"desligamentos": 2, "novos": 1, "failed": 0, "desconhecidos": 0, "recusados": 0}, the records detected by this run. A
failed record is logged and looked at again by the next run. desconhecidos wait for loans that nobody knows here yet: a run
after the loan came or was imported takes them. recusados are logged and not kept: of another shape, under another partner than
the loan's, or under the referencia of another loan.`,
  exits: {
    done: 'every record went well',
    refused: 'one failed or was refused; what was detected stays detected, and the next run goes on',
    outOfReach: 'the registry or the database is out of reach; what was detected until then stays detected',
  },
  async run(_, line) {
    const { syncBonds: sync } = await import('../../core/bonds/bonds.ts');
    const { openRegistry } = await import('../service/registry.ts');
    return runJob(line, async (pool, { config, log, progress }) => {
      const opened = await openRegistry(config, pool, log);
      if (opened === null) throw new UsageError(NOT_CONFIGURED);
      const deps = { pool, registry: opened.registry, log };
      const scope = { partnerId: null, actor: 'sync-bonds', requestId: null };
      const reported = ({ ended, new: rehired }: { ended: number; new: number }) =>
        progress.show(`detected: ${ended} ends of bonds, ${rehired} rehires`);
      const counts = await sync(deps, scope, reported).catch(async (error: unknown) => {
        await opened.close();
        if (!(error instanceof RegistryFailure || error instanceof NotAsked)) throw error;
        const message = `the registry was not heard to the end (${error.message}); run it again`;
        throw new OutOfReach(message, { cause: error });
      });
      await opened.close();
      const { ended, new: rehired, failed, unknown, refused } = counts;
      const summary = { desligamentos: ended, novos: rehired, failed, desconhecidos: unknown, recusados: refused };
      return { summary, isGood: failed + refused === 0 };
    });
  },
});

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
    return runJob(line, (pool, around) => closeForAll(pool, month, wait * 1_000, around));
  },
});

/** Each partner is a transaction of its own; one that fails does not stop the others. */
async function closeForAll(pool: Pool, month: string, waitMs: number, { log, progress }: Around): Promise<JobResult> {
  const { closeSettlement: closeBatch, isOver } = await import('../../core/settlement/settlement.ts');
  if (!isOver(month, await pool.run(readClock))) throw new Refusal(`${month} is not over yet in São Paulo`);
  progress.show(`closing ${month}: the projector passes the month's end`);
  const reason = await projectUntil({ pool, log }, startOfDay(addMonths(`${month}-01`, 1)), waitMs);
  if (reason !== null) throw new Refusal(reason);
  const partners = await pool.run(
    (sql) => sql<{ id: string }[]>`select id from partners where active and id <> operator_partner() order by id`,
  );
  let [closed, alreadyClosed] = [0, 0];
  const failed: string[] = [];
  for (const [index, { id }] of partners.entries()) {
    progress.show(`closing ${month}: partner ${index + 1} of ${partners.length}`);
    try {
      const provenance = { partnerId: id, actor: 'close-settlement', requestId: null };
      const closing = await closeBatch(pool, provenance, month);
      if ('refused' in closing) throw new Error(`${month} was over and is not any more`);
      if (closing.ok.alreadyClosed) alreadyClosed += 1;
      else closed += 1;
    } catch (error) {
      if (isUnavailable(error)) throw error;
      log.error({ partnerId: id, month, err: error }, 'a batch could not be closed; run the command again');
      failed.push(id);
    }
  }
  return {
    summary: { month, partners: partners.length, closed, alreadyClosed, failed },
    isGood: failed.length === 0,
  };
}

export const rebuild = command({
  summary: 'fold the whole log again and repair the loans that differ from it',
  options: { check: flag('--check', 'change nothing; exit with 1 when something differs') },
  help: `
The table loans is the fold of each loan's events. This folds the whole log again, 500 loans at a time, and writes what
differs; then it applies the bonds and settlements of the log that are missing. Nothing differs unless somebody wrote to a
table by hand, the code's reading of an event has changed, or the projector logged an event that it could not apply. The API
may go on meanwhile: a version that it writes wins. What the projector has not seen yet is no difference.

Output: {"loans": 1200, "differences": ["0198…"], "repaired": 1}, where differences holds the ids of the loans (or streams).`,
  exits: { done: 'all is equal or was repaired', refused: '--check found a difference, or one could not be repaired' },
  async run({ check }, line) {
    return runJob(line, async (pool, { log, progress }) => {
      const onProgress = (loans: number) => progress.show(`${loans} loans ${check ? 'compared' : 'refolded'}`);
      const summary = await rebuildLoans(pool, log, { repair: !check, onProgress });
      return { summary, isGood: summary.differences.length === summary.repaired };
    });
  },
});
