/** All background loops of Carteiro, as the doctor shows them. Shared work is done by one process at a time. */
import { EVERY_MS as SEALER_MS, runSealer } from '../../audit/seals/sealer.ts';
import { EVERY_MS as REGISTRATIONS_MS } from '../../core/loans/registration-worker.ts';
import { EVERY_MS as ERASER_MS, runEraser } from '../../core/workers/erase.ts';
import { EVERY_MS as WORKERS_MS, runWorkerIndex } from '../../core/workers/worker-index.ts';
import { EVERY_MS as PROJECTOR_MS, runProjector } from '../../core/projection/projector.ts';
import { EVERY_MS as WATCH_MS, watchServer } from '../../db/known-server.ts';
import { type Background, startBackground } from '../service/background.ts';
import { readCheckpointKeys, readWorkerKey } from '../service/key-files.ts';
import type { Role } from '../operations/checks.ts';
import type { Part, ServiceDeps } from '../service/service.ts';
import { EVERY_MS as HEARTBEAT_MS } from '../operations/heartbeat.ts';
import { POLLER_LOOPS } from '../../delivery/poller/loops.ts';
import { EVERY_MS as CERTIFICATES_MS } from '../../webhooks/certificates.ts';
import { EVERY_MS as ALERTS_MS } from './alerts.ts';
import { EVERY_MS as JOBS_MS, runJobs } from './jobs.ts';
import { EVERY_MS as JUDGE_MS, startJudging } from './judging.ts';

interface Maintenance {
  readonly name: string;
  /** How long it rests between two batches with nothing to do, in ms; a process behind others rests longer. */
  readonly everyMs: number;
  /** The processes that run it. */
  readonly roles: readonly Role[];
  /** Absent where the API or the poller starts it, over its own connections. */
  readonly start?: (deps: ServiceDeps) => Promise<Part> | Part;
}

export const MAINTENANCE: readonly Maintenance[] = [
  {
    name: 'projector',
    everyMs: PROJECTOR_MS,
    roles: ['api'],
    start(deps) {
      // A batch is 1,000 events.
      const work: Background['work'] = (own, stopping) => runProjector({ ...own, metrics: deps.metrics }, stopping);
      return startBackground(deps, { name: 'projector', deadlineMs: 15_000, work });
    },
  },
  {
    name: 'jobs',
    everyMs: JOBS_MS,
    roles: ['api'],
    start: (deps) =>
      startBackground(deps, {
        name: 'jobs',
        deadlineMs: 10_000,
        work: ({ pool, log }, stopping) => runJobs({ pool, log, schedules: deps.config.jobs }, stopping),
      }),
  },
  { name: 'judge', everyMs: JUDGE_MS, roles: ['poller'], start: startJudging },
  { name: 'alerts', everyMs: ALERTS_MS, roles: ['poller'] },
  {
    name: 'sealer',
    everyMs: SEALER_MS,
    roles: ['api', 'poller'],
    async start(deps) {
      const { signers } = await readCheckpointKeys(deps.config);
      const rate = () => deps.throttle.rate();
      const work: Background['work'] = (own, stopping) => runSealer({ ...own, signers, rate }, stopping);
      // The first rows of a large backlog may be read from disk.
      return startBackground(deps, { name: 'sealer', deadlineMs: 10_000, work });
    },
  },
  {
    name: 'eraser',
    everyMs: ERASER_MS,
    roles: ['api'],
    async start(deps) {
      const key = await readWorkerKey(deps.config);
      const work: Background['work'] = async (own, stopping) => {
        await Promise.all([runEraser(own, stopping), key === null || runWorkerIndex(own, key, stopping)]);
      };
      return startBackground(deps, { name: 'workers', deadlineMs: 60_000, work });
    },
  },
  { name: 'index of workers', everyMs: WORKERS_MS, roles: ['api'] },
  {
    name: 'watch',
    everyMs: WATCH_MS,
    roles: ['api'],
    start: (deps) => startBackground(deps, { name: 'watch', deadlineMs: 4_000, work: watchServer }),
  },
  { name: 'watch of pollers', everyMs: WATCH_MS, roles: ['poller'] },
  { name: 'certificates of receivers', everyMs: CERTIFICATES_MS, roles: ['poller'] },
  { name: 'sign of life', everyMs: HEARTBEAT_MS, roles: ['api', 'poller'] },
  { name: 'registrations', everyMs: REGISTRATIONS_MS, roles: ['api'] },
  ...Object.entries(POLLER_LOOPS).map(([name, everyMs]): Maintenance => ({ name, everyMs, roles: ['poller'] })),
];

/** Starts what these roles run. */
export async function startMaintenance(deps: ServiceDeps, roles: readonly Role[]): Promise<Part[]> {
  const parts: Part[] = [];
  for (const { start, roles: own } of MAINTENANCE) {
    if (start !== undefined && own.some((role) => roles.includes(role))) parts.push(await start(deps));
  }
  return parts;
}
