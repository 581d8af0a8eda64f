/** The overview's numbers as its charts draw them. Pure. */
import type { ListedWebhook } from '../../contract/resources/webhook.ts';
import type { Summary } from '../../contract/resources/summary.ts';

export interface Numbers {
  readonly summary: Summary;
  /** The active webhooks whose newest attempts failed; null of one webhook. */
  readonly failing: readonly ListedWebhook[] | null;
}

/** One value for each step of the window, oldest first: seconds since 1970, attempts a minute, milliseconds. */
export function seriesOf({ passos, passo_s }: Pick<Summary, 'passos' | 'passo_s'>) {
  const perMinute = (count: number) => Math.round((count / passo_s) * 60 * 100) / 100;
  return {
    at: passos.map(({ inicio }) => Date.parse(inicio) / 1_000),
    delivered: passos.map(({ entregues }) => perMinute(entregues)),
    failed: passos.map(({ falhas }) => perMinute(falhas)),
    p50: passos.map(({ p50_ms }) => p50_ms),
    p99: passos.map(({ p99_ms }) => p99_ms),
  };
}
