/** When a forwarded delivery is tried again: like the real schedule, six attempts, but in the time of someone who watches. */

/** Seconds between the end of a failed attempt and the next. */
const RETRY_DELAYS_S = [2, 5, 15, 30, 60] as const;

export const MAX_ATTEMPTS = RETRY_DELAYS_S.length + 1;

/** Seconds to wait after the `failures`-th failed attempt; null when there is no further one. */
export function retryDelayS(failures: number): number | null {
  return RETRY_DELAYS_S[failures - 1] ?? null;
}
