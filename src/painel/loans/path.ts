/** The way that a loan took through its states. Pure. */
import type { LoanStatus } from '../../contract/statuses.ts';
import { fold, type LoanEvent } from '../../loan/evolve.ts';

export type Documents = 'nenhuma' | 'aguardando' | 'recebido';

/** The two dimensions right after one event. */
export interface Step {
  readonly version: number;
  readonly event: string;
  readonly status: LoanStatus | null;
  readonly documents: Documents;
}

/** One step an event, the first ones without a status where facts came ahead of the contract. */
export function stepsOf(events: readonly LoanEvent[]): Step[] {
  return events.map(({ version, type }, index) => {
    const state = fold(events.slice(0, index + 1));
    return {
      version,
      event: type,
      status: state?.status ?? null,
      documents: state?.obligation?.situation ?? 'nenhuma',
    };
  });
}

/** The versions at which each state was entered, in order; a state that was never entered is absent. */
export function entries<S extends string>(steps: readonly Step[], pick: (step: Step) => S | null): Map<S, number[]> {
  const entered = new Map<S, number[]>();
  let before: S | null = null;
  for (const step of steps) {
    const state = pick(step);
    if (state !== null && state !== before) entered.set(state, [...(entered.get(state) ?? []), step.version]);
    before = state;
  }
  return entered;
}
