/** Attempts against the schedule: those that were made, and those that it still plans. */
import { html } from 'hono/html';
import type { DeliveryWithAttempts } from '../../contract/resources/delivery-resource.ts';
import { nextSlot } from '../../contract/schedule.ts';
import type { Html, Visit } from '../env.ts';
import { moment, outcomeBadge } from '../frame/parts.ts';

/**
 * When a pending delivery will be tried, should each attempt fail as it starts: the next at its time, the others after
 * their delays. Empty for one that is over, suspended or under way.
 */
export function plannedAttempts(delivery: DeliveryWithAttempts, failures: number): Date[] {
  if (delivery.status !== 'pendente' || delivery.proxima_tentativa_em === null) return [];
  const planned: Date[] = [];
  let atMs: number | null = Date.parse(delivery.proxima_tentativa_em);
  for (let spent = failures + 1; atMs !== null; spent += 1) {
    planned.push(new Date(atMs));
    atMs = delivery.teste ? null : nextSlot(spent, atMs);
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
