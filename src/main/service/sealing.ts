/** The sealer as a part of `api` and `poll`: each process has one, and one of them works at a time. */
import { runSealer } from '../../audit/seals/sealer.ts';
import { startBackground } from './background.ts';
import type { Part, ServiceDeps } from './service.ts';

/** A turn hashes some 65,000 rows in 0.2 s; the first ones of a large backlog may be read from disk. */
const DEADLINE_MS = 10_000;

export function startSealer(deps: ServiceDeps): Part {
  return startBackground(deps, { name: 'sealer', connections: 1, deadlineMs: DEADLINE_MS, work: runSealer });
}
