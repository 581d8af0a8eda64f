/** One month's batch for every active partner. */
import { startOfDay } from '../contract/calendar.ts';
import { projectUntil } from '../core/projection/projector.ts';
import { closeSettlement as closeBatch, isOver } from '../core/settlement/settlement.ts';
import type { Pool } from '../db/pool.ts';
import { isUnavailable } from '../db/unavailable.ts';
import { readClock } from '../log/read.ts';
import { Refusal } from './command.ts';
import type { Around, JobResult } from './job-pool.ts';

interface MonthToClose {
  readonly month: string;
  /** How long to wait until the projector has passed the month's end. */
  readonly waitMs: number;
}

/** Each partner is a transaction of its own; one that fails does not stop the others. */
export async function closeForAll(
  pool: Pool,
  { month, waitMs }: MonthToClose,
  { log, progress }: Around,
): Promise<JobResult> {
  if (!isOver(month, await pool.run(readClock))) throw new Refusal(`${month} is not over yet in São Paulo`);
  progress.show(`closing ${month}: the projector passes the month's end`);
  const reason = await projectUntil({ pool, log }, startOfDay(firstDayAfter(month)), waitMs);
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

function firstDayAfter(month: string): string {
  const [year, number] = [Number(month.slice(0, 4)), Number(month.slice(5))];
  return number === 12 ? `${year + 1}-01-01` : `${year}-${String(number + 1).padStart(2, '0')}-01`;
}
