/** Attempts against the schedule: those that were made, and those that it still plans. */
import { html } from 'hono/html';
import type { DeliveryAsSent } from '../../contract/resources/delivery-resource.ts';
import type { Html, Visit } from '../env.ts';
import { moment, outcomeBadge } from '../frame/parts.ts';

export function timeline(visit: Visit, { tentativas, tentativas_previstas: planned }: DeliveryAsSent): Html {
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
