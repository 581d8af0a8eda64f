/** A claim's lease, from its `claimed_at`: past it whichever poller finds the claim ends it, so a crash needs no notice. */
export const LEASE_S = 45;

/**
 * A send starts only with more of its lease left than this: the 30 s deadline and the time to record. Less, and
 * another poller could be sending the same delivery while this one still waits for its answer.
 */
export const MIN_LEASE_LEFT_MS = 31_000;

/** The attempt that is lost as this many in a row books one failure of the schedule instead of being sent again. */
export const LOST_IN_ROW_BOOKS_FAILURE = 5;
