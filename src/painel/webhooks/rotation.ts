/** A webhook's secret: where its rotation stands, and the next step of it. */
import { html } from 'hono/html';
import type { SecretState } from '../../contract/resources/webhook.ts';
import { newRequestId } from '../../http/request-env.ts';
import type { Html, Visit } from '../env.ts';
import { choices, confirmed, select } from '../frame/forms.ts';
import { moment } from '../frame/parts.ts';

/** When a new secret may begin to sign, in hours from now; 0 is at once. */
const WAITS_H = [0, 1, 4, 12, 23] as const;

export function secretPart(visit: Visit, state: SecretState, mayWrite: boolean): Html {
  const { t } = visit;
  return html`<section aria-labelledby="secret">
    <h2 id="secret">${t.webhooks.secret}</h2>
    ${standing(visit, state)} ${mayWrite ? html`<div class="actions">${steps(visit, state)}</div>` : ''}
  </section>`;
}

function standing(visit: Visit, { vale_em: waitsUntil, anterior_ate: previousUntil }: SecretState): Html {
  const { t } = visit;
  if (waitsUntil !== null) return html`<p>${t.webhooks.waits} ${countdown(visit, waitsUntil)}</p>`;
  if (previousUntil !== null) return html`<p>${t.webhooks.overlaps} ${countdown(visit, previousUntil)}</p>`;
  return html`<p>${t.webhooks.alone}</p>`;
}

/** A moment with the time that is left till then, which a script counts down. */
function countdown(visit: Visit, at: string): Html {
  return html`${moment(visit, at)} <strong data-until="${at}"></strong>`;
}

function steps(visit: Visit, { id, vale_em: waitsUntil, anterior_ate: previousUntil }: SecretState): Html {
  const { t } = visit;
  const path = `/painel/webhooks/${id}/segredo`;
  if (waitsUntil !== null) {
    return html`${confirmed(visit, `${path}/ativar`, { label: t.webhooks.activate, question: t.webhooks.activateConfirm })}
    ${confirmed(visit, `${path}/descartar`, { label: t.webhooks.discard, question: t.webhooks.discardConfirm })}`;
  }
  if (previousUntil !== null) {
    return confirmed(visit, `${path}/encerrar`, { label: t.webhooks.end, question: t.webhooks.endConfirm });
  }
  const waits = WAITS_H.map(
    (hours) => [String(hours), hours === 0 ? t.words.soon : t.webhooks.inHours(hours)] as const,
  );
  const fields = html`<p>
    <input type="hidden" name="chave" value="${newRequestId()}" />
    ${select(t.webhooks.signsFrom, 'horas', choices('0', waits))}
  </p>`;
  return confirmed(visit, path, { label: t.webhooks.rotate, question: t.webhooks.rotateConfirm }, fields);
}
