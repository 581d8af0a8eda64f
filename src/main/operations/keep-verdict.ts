/** The last verdict of `audit balance`, kept for the monitors. */
import type { BalanceResource } from '../../contract/resources/audit-resource.ts';
import type { Pool } from '../../db/pool.ts';
import { codeOf } from '../../db/unavailable.ts';
import type { Logger } from '../../log-lines.ts';

/** Keeps the verdict. A standby and an auditor's login cannot; that is logged, and the command goes on. */
export async function keepVerdict(pool: Pool, log: Logger, found: BalanceResource): Promise<void> {
  const { de, ate, fecha, total_diferencas: differences } = found;
  try {
    await pool.run(
      (sql) => sql`
        insert into balance_verdicts (from_day, to_day, closes, differences) values (${de}, ${ate}, ${fecha}, ${differences})`,
    );
  } catch (error) {
    log.warn({ code: codeOf(error) }, 'the verdict could not be kept, so the metrics still tell the one before');
  }
}
