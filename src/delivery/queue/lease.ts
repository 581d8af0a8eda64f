/**
 * How long a claim is its poller's, by the poller's own clock. The database counts the same time (drizzle/functions/lease.sql);
 * past it whichever poller finds the claim ends it, so a crash needs no notice.
 */
export const LEASE_S = 45;

/**
 * A send starts only with more of its lease left than this: the 30 s deadline and the time to record. Less, and
 * another poller could be sending the same delivery while this one still waits for its answer.
 */
export const MIN_LEASE_LEFT_MS = 31_000;

/** After this many losses in a row one failure of the schedule is booked. */
export const LOST_IN_ROW_BOOKS_FAILURE = 5;
