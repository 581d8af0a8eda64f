/**
 * The schedule of a delivery's attempts, as a pure function. The page, the description and the command
 * line show this one. Pollers use the database's `next_slot` (drizzle/functions); a test compares the two.
 */

/** Seconds between the end of a failed attempt and the next. */
export const RETRY_DELAYS_S = [60, 300, 900, 3_600, 21_600] as const;

/** The first attempt and one after each delay: so many failures end a delivery in `erro`. */
export const SLOTS = RETRY_DELAYS_S.length + 1;

/** When a delivery is tried again after its `failures`-th failure, which ended at `endedAtMs`; null when it is over. */
export function nextSlot(failures: number, endedAtMs: number): number | null {
  const delayS = RETRY_DELAYS_S[failures - 1];
  return delayS === undefined ? null : endedAtMs + delayS * 1_000;
}

/** `1 h`, `15 min`, `1 h 21 min`. */
export function durationText(seconds: number): string {
  const minutes = Math.round(seconds / 60);
  const parts = [
    [Math.floor(minutes / 60), 'h'],
    [minutes % 60, 'min'],
  ] as const;
  return parts.flatMap(([amount, unit]) => (amount === 0 ? [] : [`${amount} ${unit}`])).join(' ');
}

/** `1 min, 5 min, 15 min, 1 h, 6 h`. */
export const RETRY_DELAYS_TEXT = RETRY_DELAYS_S.map(durationText).join(', ');
