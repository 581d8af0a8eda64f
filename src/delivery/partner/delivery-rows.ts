/** Where rows of deliveries are read: the tables, and an archive of what left them. */
import type { Tx } from '../../db/pool.ts';
import type { Fragment } from '../../db/sql.ts';

/** Rows as JSON, with the columns of their tables. */
export interface ArchivedDelivery {
  readonly deliveries: string;
  readonly attempts: string;
}

export interface DeliveryRows {
  readonly deliveries: Fragment;
  readonly attempts: Fragment;
}

export function rowsOf(sql: Tx, archived: ArchivedDelivery | null): DeliveryRows {
  if (archived === null) return { deliveries: sql`deliveries`, attempts: sql`attempts` };
  const { deliveries, attempts } = archivedRowsOf(sql, archived);
  return {
    deliveries: sql`(select * from deliveries union all select * from ${deliveries} r)`,
    attempts: sql`(select * from attempts union all select * from ${attempts} r)`,
  };
}

/** Rows that only the archive has. A row in both places (a month being removed, an attempt of a later month) counts as the table's. */
export function archivedRowsOf(sql: Tx, { deliveries, attempts }: ArchivedDelivery): DeliveryRows {
  return {
    deliveries: sql`(
      select r.* from json_populate_recordset(null::deliveries, ${deliveries}::text::json) r
      where not exists (select from deliveries d where d.id = r.id))`,
    attempts: sql`(
      select r.* from json_populate_recordset(null::attempts, ${attempts}::text::json) r
      where not exists (select from attempts a
                        where (a.delivery_id, a.number, a.late) = (r.delivery_id, r.number, r.late)))`,
  };
}
