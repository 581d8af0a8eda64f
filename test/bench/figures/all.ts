/** Every figure, in the order in which they run. */
import type { Figure } from '../figure.ts';
import { analyst } from './analyst.ts';
import { appendKinds } from './append-kinds.ts';
import { beside } from './beside.ts';
import { claimTime } from './claim.ts';
import { drain } from './drain.ts';
import { endurance } from './endurance.ts';
import { eventCost } from './event-cost.ts';
import { fair } from './fair.ts';
import { history } from './history.ts';
import { latency } from './latency.ts';
import { memory } from './memory.ts';
import { months } from './months.ts';
import { pace } from './pace.ts';
import { pollers } from './pollers.ts';
import { reads } from './reads.ts';
import { statement } from './statement.ts';
import { takeOver } from './take-over.ts';
import { writers } from './writers.ts';
import { years } from './years.ts';

/** `memory` comes behind `claim`: it uses its backlog. */
export const figures: readonly Figure[] = [
  drain,
  latency,
  writers,
  claimTime,
  memory,
  endurance,
  statement,
  appendKinds,
  eventCost,
  fair,
  pace,
  pollers,
  takeOver,
  reads,
  months,
  years,
  history,
  analyst,
  beside,
];
