/** Which pools a process opens, by name in `pg_stat_activity`, and their most connections; `doctor` and the page use the sums. */
import type { Config } from '../../config.ts';
import { Pool, type PoolOptions } from '../../db/pool.ts';

const OF_BOTH = { metrics: 2, sealer: 1 } as const;
const OF_POLL = { poller: 4, 'sign of life': 1, judge: 1, ...OF_BOTH } as const;
const OF_API = { api: 16, worker: 4, projector: 1, jobs: 1, workers: 1, watch: 1, ...OF_BOTH } as const;
/** A command, and each job that `api` starts. */
const OF_A_JOB = { job: 3 } as const;
/** Of `api` and of a job, on the standby. */
const OF_STANDBY = { reports: 4, 'job reports': 3 } as const;
const POOLS = { ...OF_POLL, ...OF_API, ...OF_A_JOB, ...OF_STANDBY, start: 1, doctor: 1 } as const;
export type PoolName = keyof typeof POOLS;

const sum = (pools: Readonly<Record<string, number>>) => Object.values(pools).reduce((one, other) => one + other, 0);

/** The connections that one process of each kind has at most once it runs. */
export const MOST = { api: sum(OF_API), poll: sum(OF_POLL), job: sum(OF_A_JOB) } as const;

export function openPool(
  { databasePrepare: prepare, databaseSchema: schema }: Config,
  url: string,
  name: PoolName,
  deadlineMs: number,
  settings?: PoolOptions['settings'],
): Pool {
  return new Pool({ url, schema, name: `carteiro ${name}`, max: POOLS[name], deadlineMs, prepare, settings });
}
