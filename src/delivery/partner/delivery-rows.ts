/** Where the rows of one delivery are read from: the tables, or an archive that has what left them. */
import type { Tx } from '../../db/pool.ts';

/** Rows as JSON, with the columns of their tables. */
export interface ArchivedDelivery {
  readonly deliveries: string;
  readonly attempts: string;
}

/** What a statement about one delivery reads in the place of the tables. */
export function rowsOf(sql: Tx, archived: ArchivedDelivery | null) {
  if (archived === null) return { deliveries: sql`deliveries`, attempts: sql`attempts` };
  const { deliveries, attempts } = archived;
  return {
    deliveries: sql`json_populate_recordset(null::deliveries, ${deliveries}::text::json)`,
    // An attempt of a later month may be in the table still.
    attempts: sql`(
      select * from json_populate_recordset(null::attempts, ${attempts}::text::json)
      union all
      select a.* from json_populate_recordset(null::deliveries, ${deliveries}::text::json) d
      join attempts a on a.delivery_id = d.id
      where not exists (select from json_populate_recordset(null::attempts, ${attempts}::text::json) r
                        where (r.delivery_id, r.number, r.late) = (a.delivery_id, a.number, a.late)))`,
  };
}
