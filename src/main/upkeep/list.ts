/**
 * Everything that Carteiro does by itself beside requests and deliveries: one list, started in one place. The work of each is
 * done by one process at a time, however many there are.
 */
import { runSealer } from '../../audit/seals/sealer.ts';
import { runEraser } from '../../core/workers/erase.ts';
import { runWorkerIndex } from '../../core/workers/worker-index.ts';
import { runProjector } from '../../core/projection/projector.ts';
import { watchServer } from '../../db/known-server.ts';
import { type Background, startBackground } from '../service/background.ts';
import { readCheckpointKeys } from '../service/checkpoint-keys.ts';
import { readWorkerKey } from '../service/worker-key.ts';
import type { Role } from '../fitness/checks.ts';
import type { Part, ServiceDeps } from '../service/service.ts';
import { runJobs } from './jobs.ts';
import { startJudging } from './judging.ts';

interface Upkeep {
  readonly name: string;
  /** How often it works. */
  readonly period: string;
  /** The processes that run it. */
  readonly roles: readonly Role[];
  readonly start: (deps: ServiceDeps) => Promise<Part> | Part;
}

export const UPKEEP: readonly Upkeep[] = [
  {
    name: 'projector',
    period: '0.5 s',
    roles: ['api'],
    start(deps) {
      // A turn is 1,000 events.
      const work: Background['work'] = (own, stopping) => runProjector({ ...own, metrics: deps.metrics }, stopping);
      return startBackground(deps, { name: 'projector', deadlineMs: 15_000, work });
    },
  },
  {
    name: 'jobs',
    period: '15 s',
    roles: ['api'],
    start: (deps) =>
      startBackground(deps, {
        name: 'jobs',
        deadlineMs: 10_000,
        work: ({ pool, log }, stopping) => runJobs({ pool, log, schedules: deps.config.jobs }, stopping),
      }),
  },
  {
    name: 'judge',
    period: '5 s',
    roles: ['poller'],
    start: startJudging,
  },
  {
    name: 'sealer',
    period: '30 s',
    roles: ['api', 'poller'],
    async start(deps) {
      const { signers } = await readCheckpointKeys(deps.config);
      const often = () => deps.relief.often();
      const work: Background['work'] = (own, stopping) => runSealer({ ...own, signers, often }, stopping);
      // A turn hashes some 33,000 rows in 0.3 s; the first ones of a large backlog may be read from disk.
      return startBackground(deps, { name: 'sealer', deadlineMs: 10_000, work });
    },
  },
  {
    name: 'workers',
    period: '5 s',
    roles: ['api'],
    async start(deps) {
      const key = await readWorkerKey(deps.config);
      const work: Background['work'] = async (own, stopping) => {
        await Promise.all([runEraser(own, stopping), key === null || runWorkerIndex(own, key, stopping)]);
      };
      return startBackground(deps, { name: 'workers', deadlineMs: 60_000, work });
    },
  },
  {
    name: 'watch',
    period: '1 s',
    roles: ['api'],
    start: (deps) => startBackground(deps, { name: 'watch', deadlineMs: 4_000, work: watchServer }),
  },
];

/** Starts what these roles run. */
export async function startUpkeep(deps: ServiceDeps, roles: readonly Role[]): Promise<Part[]> {
  const parts: Part[] = [];
  for (const upkeep of UPKEEP) {
    if (upkeep.roles.some((role) => roles.includes(role))) parts.push(await upkeep.start(deps));
  }
  return parts;
}
