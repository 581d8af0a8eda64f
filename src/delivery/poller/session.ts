/**
 * Settings of the poller's sessions: every statement walks indexes, whatever the current statistics say. With the planner's choice a claim
 * walked bitmaps of dead entries, and a drain took 7 % more of the database's time.
 */
export const SESSION_SETTINGS = {
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  // Keys of a record's rows do not repeat: a memory of them had 0 hits.
  enable_memoize: 'off',
  jit: 'off',
};
