/** A poller's periodic work beside deliveries, and how often the first poller does it, in ms. */
import { TIMES_S } from '../../contract/delivery.ts';
import { EVERY_MS as HOURS_MS } from '../queue/maintenance/hour-counter.ts';
import { EVERY_MS as SWEEP_MS } from '../queue/maintenance/sweep.ts';

export const POLLER_LOOPS = {
  sweeper: SWEEP_MS,
  'hour counter': HOURS_MS,
  'dead pollers': TIMES_S.heartbeat * 1_000,
} as const;
