/** The projector as a part of `api`: each process has one, and one of them works at a time. */
import { readProjectorLagS, runProjector } from '../../core/projection/projector.ts';
import { startBackground } from './background.ts';
import type { Part, ServiceDeps } from './service.ts';

/** A turn is 1,000 events; of a projector that is cut off, its server ends the transaction, and with it the lock. */
const DEADLINE_MS = 15_000;
/** The second is for the lag's reading, which no turn must hold up. */
const CONNECTIONS = 2;

export function startProjector(deps: ServiceDeps): Part {
  const part = startBackground(deps, {
    name: 'projector',
    connections: CONNECTIONS,
    deadlineMs: DEADLINE_MS,
    work: runProjector,
  });
  deps.metrics.watch('projector_lag_seconds', () => part.pool.run(readProjectorLagS));
  return part;
}
