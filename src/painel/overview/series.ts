/** The overview's numbers as its charts draw them. Pure. */
import type { WebhookResource } from '../../contract/resources/webhook.ts';
import type { WebhookHealth } from '../../delivery/partner/health.ts';
import type { Pulse, PulseStep, Waiting } from '../../delivery/partner/pulse.ts';

export interface Numbers {
  readonly pulse: Pulse;
  readonly windowS: number;
  readonly stepS: number;
  readonly waiting: Waiting;
  readonly health: readonly WebhookHealth[];
  readonly webhooks: readonly WebhookResource[];
}

/** One value for each step of the window, oldest first. */
export interface Series {
  /** Seconds since 1970. */
  readonly at: readonly number[];
  /** Attempts a minute. */
  readonly delivered: readonly number[];
  readonly failed: readonly number[];
  /** Milliseconds; null where nothing arrived. */
  readonly p50: readonly (number | null)[];
  readonly p99: readonly (number | null)[];
}

/** Steps without an attempt are zeros, so that a line falls where nothing was sent. */
export function seriesOf({ pulse, windowS, stepS }: Pick<Numbers, 'pulse' | 'windowS' | 'stepS'>): Series {
  const known = new Map(pulse.steps.map((step) => [step.at.getTime() / 1_000, step]));
  const last = Math.floor(pulse.now.getTime() / 1_000 / stepS) * stepS;
  const at = Array.from({ length: windowS / stepS + 1 }, (_, index) => last - windowS + index * stepS);
  const each = <T>(pick: (step: PulseStep | undefined) => T) => at.map((second) => pick(known.get(second)));
  const perMinute = (count: number) => Math.round((count / stepS) * 60 * 100) / 100;
  return {
    at,
    delivered: each((step) => perMinute(step?.outcomes.entregue ?? 0)),
    failed: each((step) => perMinute(failures(step))),
    p50: each((step) => rounded(step?.p50Ms)),
    p99: each((step) => rounded(step?.p99Ms)),
  };
}

export function failures(step: PulseStep | undefined): number {
  return Object.entries(step?.outcomes ?? {}).reduce(
    (sum, [name, count]) => sum + (name === 'entregue' ? 0 : count),
    0,
  );
}

function rounded(ms: number | null | undefined): number | null {
  return ms === null || ms === undefined ? null : Math.round(ms);
}
