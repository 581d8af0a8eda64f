/** The leaves of a seal whose rows lie in the files of its month, for `audit verify`. */
import type { Row } from '../db/binary-record.ts';
import type { ArchivedLeaves } from '../audit/seals/archived-leaves.ts';
import { readSeals } from '../audit/seals/seal-log.ts';
import type { Pool } from '../db/pool.ts';
import type { MonthAct } from './acts.ts';
import { awayOf } from './bring-back.ts';
import type { Part } from './manifest.ts';
import { ArchiveFault, type Place } from './place.ts';
import { hashPart, isOfSeal, restsOf } from './verify-month.ts';

interface Months {
  /** Those whose rows may lie in their files alone. */
  readonly removed: () => Promise<MonthAct[]>;
  readonly partsOf: (month: MonthAct) => Promise<readonly Part[]>;
}

/** Null where the seal's rows must be in the database. The part that was read last is kept. */
export function leavesOf(
  pool: Pool,
  openPlace: (name: string) => Place,
  { removed, partsOf }: Months,
): (number: number) => Promise<ArchivedLeaves | null> {
  let months: Promise<MonthAct[]> | undefined;
  let [from, to, part] = [0, -1, [] as ArchivedLeaves[]];
  return async (number) => {
    if (number >= from && number <= to) return part[number - from] ?? null;
    months ??= removed();
    const month = (await months).find(({ firstSeal, lastSeal }) => firstSeal <= number && number <= lastSeal);
    if (month === undefined) return null;
    try {
      const found = (await partsOf(month)).find(({ selos }) => selos.de <= number && number <= selos.ate);
      if (found === undefined) return { fault: `the manifest of ${month.month} lacks seal ${number}` };
      const place = openPlace(month.place);
      const { de, ate } = found.selos;
      const seals = await pool.run((sql) => readSeals(sql, de - 1, ate - de + 1));
      const isAway = async (rows: readonly Row[]) => awayOf(pool, rows);
      const { all, stay: staying } = await hashPart(place, found, seals, undefined, isAway);
      [from, to] = [de, ate];
      part = seals.map((seal, index): ArchivedLeaves => {
        const [leaves, stay] = [all[index], staying[index]];
        if (leaves === undefined || stay === undefined || !isOfSeal(leaves, seal)) {
          return { fault: `the files in ${place.name} do not give seal ${seal.number}` };
        }
        return { leaves, stay, rests: async () => restsOf(place, found, seal, isAway) };
      });
      return part[number - from] ?? null;
    } catch (error) {
      if (error instanceof ArchiveFault) return { fault: error.message };
      throw error;
    }
  };
}
