/** What a partner has lost and can send again: above everything else, with the newest cause and what to do. */
import { html } from 'hono/html';
import { LOST_COUNTED, type WebhookHealthResource } from '../../contract/resources/webhook-health.ts';
import { adviceOf } from '../../webhooks/advice.ts';
import type { Html, Visit } from '../env.ts';
import { moment } from '../frame/parts.ts';

interface Losing {
  /** Null on the webhook's own page. */
  readonly name: string | null;
  readonly health: WebhookHealthResource;
}

/** Of the webhooks with deliveries in `erro`, the one that lost last first. */
export function lossNotices(visit: Visit, webhooks: readonly Losing[]): Html {
  const lost = webhooks
    .filter(({ health }) => health.em_erro > 0)
    .toSorted((one, other) => (lastOf(one) < lastOf(other) ? 1 : -1));
  return html`${lost.map((one) => lossNotice(visit, one))}`;
}

const lastOf = ({ health }: Losing) => health.ultimo_erro?.terminou_em ?? '';

function lossNotice(visit: Visit, { name, health }: Losing): Html {
  const { t, c, session } = visit;
  const { webhook_id: id, em_erro: count, primeira_em_erro: first, ultimo_erro: last } = health;
  const many = count > LOST_COUNTED ? `${LOST_COUNTED}+` : String(count);
  const since = encodeURIComponent(first?.criada_em ?? '');
  const text = t.losses.inError(many);
  const advice = last === null || last.resultado === 'entregue' ? null : adviceOf(last.resultado, last.status_http);
  return html`<div class="notice notice-failed">
    <p>
      ${name === null ? '' : html`<a class="wrap" href="/painel/webhooks/${id}">${name}</a>: `}
      <strong>${text}</strong>
      ${
        session.identity.scopes.has('webhooks:write')
          ? html`<a class="button small" href="/painel/webhooks/${id}/recuperar?desde=${since}">${t.recovery.open}</a>`
          : ''
      }
    </p>
    ${
      advice === null || last === null
        ? ''
        : html`<p>
            ${t.losses.last} <a href="/painel/entregas/${last.id}">${moment(visit, last.terminou_em)}</a>:
            ${advice.cause[c.var.language]}. ${advice.next[c.var.language]}
          </p>`
    }
  </div>`;
}
