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
  jit: 'off',
};
