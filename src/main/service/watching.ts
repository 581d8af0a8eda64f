/** The watch on the server as a part of `api` and `poll`: it ends a process that finds itself on another one. */
import { watchServer } from '../../db/known-server.ts';
import { startBackground } from './background.ts';
import type { Part, ServiceDeps } from './service.ts';

const DEADLINE_MS = 4_000;

export function startWatch(deps: ServiceDeps): Part {
  return startBackground(deps, { name: 'watch', connections: 1, deadlineMs: DEADLINE_MS, work: watchServer });
}
