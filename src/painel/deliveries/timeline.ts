/** Attempts against the schedule: those that were made, and those that it still plans. */
import { html } from 'hono/html';
import { RETRY_DELAYS_S } from '../../contract/delivery.ts';
import type { DeliveryWithAttempts } from '../../contract/resources/delivery-resource.ts';
import type { Html, Visit } from '../env.ts';
import { moment, outcomeBadge } from '../frame/parts.ts';

/** The first attempt and one after each delay. */
export const SLOTS = RETRY_DELAYS_S.length + 1;

/**
 * When a pending delivery will be tried, should each attempt fail as it starts: the next at its time, the others after
 * their delays. Empty for one that is over, suspended or under way.
 */
export function plannedAttempts(delivery: DeliveryWithAttempts, failures: number): Date[] {
  if (delivery.status !== 'pendente' || delivery.proxima_tentativa_em === null) return [];
  const first = new Date(delivery.proxima_tentativa_em);
  const planned = [first];
  for (const delayS of RETRY_DELAYS_S.slice(failures)) {
    planned.push(new Date((planned.at(-1) ?? first).getTime() + delayS * 1_000));
  }
  return planned;
}

export function timeline(visit: Visit, { tentativas }: DeliveryWithAttempts, planned: readonly Date[]): Html {
  const { t } = visit;
  const made = tentativas.map(
    (attempt) =>
      html`<li class="made made-${attempt.resultado === 'entregue' ? 'entregue' : 'erro'}">
        <strong>${t.delivery.attempt(attempt.numero)}</strong> ${moment(visit, attempt.inicio)}
        ${outcomeBadge(t, attempt.resultado, attempt.status_http)}
      </li>`,
  );
  const last = tentativas.at(-1)?.numero ?? 0;
  const coming = planned.map(
    (at, index) =>
      html`<li class="planned">
        <strong>${t.delivery.attempt(last + index + 1)}</strong> ${moment(visit, at)}
        <span class="dim">${t.delivery.planned}</span>
      </li>`,
  );
  return html`<ol class="timeline">
    ${made}${coming}
  </ol>`;
}
