/**
 * The schedules of attempts: one table for the database's functions (`{{…}}` in drizzle/functions), pages, description and help.
 */
import { type Bilingual, both } from './language.ts';
import type { DeliveryResource } from './resources/delivery-resource.ts';

export interface Schedule {
  /** Seconds between the end of a failed attempt and the next; after the last the delivery ends in `erro`. */
  readonly delaysS: readonly number[];
  /** Which deliveries are tried by it: for people, as SQL says it of the row `delivery`, and of a delivery as partners read it. */
  readonly who: Bilingual;
  readonly sql: string;
  readonly isOf: (delivery: DeliveryResource) => boolean;
}

export type Schedules = Readonly<Record<string, Schedule>>;

/** The first that fits holds. */
export const SCHEDULES = {
  test: { delaysS: [], who: { pt: 'testes', en: 'tests' }, sql: 'delivery.is_test', isOf: ({ teste }) => teste },
  usual: {
    delaysS: [60, 300, 900, 3_600, 21_600],
    who: { pt: 'as outras', en: 'all others' },
    sql: 'true',
    isOf: () => true,
  },
} as const satisfies Schedules;

export const RETRY_DELAYS_S = SCHEDULES.usual.delaysS;

export function scheduleOf(delivery: DeliveryResource, schedules: Schedules = SCHEDULES): Schedule {
  const found = Object.values(schedules).find(({ isOf }) => isOf(delivery));
  if (found === undefined) throw new Error('no schedule fits the delivery');
  return found;
}

/** The error text when a delay is not longer than the lease, in seconds: a lane may sleep until its last claim's lease ends. Else null. */
export function delaysFault(lease: number): string | null {
  const shortest = Math.min(...Object.values(SCHEDULES).flatMap(({ delaysS }) => delaysS));
  if (lease < shortest) return null;
  return `a lease of ${lease} s is not shorter than a schedule's delay of ${shortest} s: such a retry would wait for the lease's end`;
}

/** The first attempt and one after each delay: this many failures end a delivery in `erro`. */
export function slotsOf({ delaysS }: Schedule): number {
  return delaysS.length + 1;
}

export const SLOTS = slotsOf(SCHEDULES.usual);

/** When a delivery is tried again after its `failures`-th failure, which ended at `endedAtMs`; null when it is over. */
export function nextSlot(failures: number, endedAtMs: number, schedule: Schedule = SCHEDULES.usual): number | null {
  const delayS = schedule.delaysS[failures - 1];
  return delayS === undefined ? null : endedAtMs + delayS * 1_000;
}

/** The delays of the row `delivery`, in SQL. */
export function delaysInSql(schedules: Schedules = SCHEDULES): string {
  const cases = Object.values(schedules).map(
    ({ sql, delaysS }) => `when ${sql} then array[${delaysS.join(', ')}]::int[]`,
  );
  return `case ${cases.join(' ')} end`;
}

/** `1 h`, `15 min`, `1 h 21 min`, `30 s`. */
export function durationText(seconds: number): string {
  const parts = [
    [Math.floor(seconds / 3_600), 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [seconds % 60, 's'],
  ] as const;
  return parts.flatMap(([amount, unit]) => (amount === 0 ? [] : [`${amount} ${unit}`])).join(' ');
}

/** `1 min, 5 min, 15 min, 1 h, 6 h`; where there are several schedules, each behind the deliveries that it is for. */
export function delaysText(schedules: Schedules = SCHEDULES): Bilingual {
  const retried = Object.values(schedules).filter(({ delaysS }) => delaysS.length > 0);
  return both((language) =>
    retried
      .map(
        ({ who, delaysS }) =>
          `${retried.length > 1 ? `${who[language]}: ` : ''}${delaysS.map(durationText).join(', ')}`,
      )
      .join('; '),
  );
}
