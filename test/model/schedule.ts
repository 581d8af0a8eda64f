/** The schedule and the lease as pure functions of time: what the database's next_slot and lease are held against. */

export const LEASE_MS = 45_000;
const DELAYS_MS = [60_000, 300_000, 900_000, 3_600_000, 21_600_000];
export const MOST_FAILURES = DELAYS_MS.length + 1;

/** When the next attempt comes after the `failures`-th failure ended, or null: there is none. */
export function nextSlot(failures: number, endedAt: number): number | null {
  const delayMs = DELAYS_MS[failures - 1];
  return delayMs === undefined ? null : endedAt + delayMs;
}
