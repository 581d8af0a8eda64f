/** One webhook: how it fares, what it is sent, its secret, and how its receiver verifies. */
import { html } from 'hono/html';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { TEST_NAME } from '../../contract/delivery.ts';
import { SUBSCRIBABLE_NAMES } from '../../contract/events.ts';
import type { SecretState, WebhookResource } from '../../contract/resources/webhook.ts';
import type { WebhookHealthResource } from '../../contract/resources/webhook-health.ts';
import type { Refusal } from '../api-client.ts';
import type { Html, Visit } from '../env.ts';
import { answerPage } from '../frame/page.ts';
import { confirmed, copyable, fact, formToken, moment, notice, options } from '../frame/parts.ts';
import { refusalList } from '../frame/refusals.ts';
import { deliveredOf, healthBadge, speed } from './list.ts';
import { secretPart } from './rotation.ts';
import { snippetsFor } from './snippets.ts';

interface Shown {
  readonly refusal?: Refusal;
}

export async function showWebhook(visit: Visit, id: string, { refusal }: Shown): Promise<Response> {
  const { c, t, api, session } = visit;
  const [webhook, health, secrets] = await Promise.all([
    api.read<WebhookResource>(`/v1/webhooks/${id}`),
    api.read<WebhookHealthResource>(`/v1/webhooks/${id}/saude`),
    api.read<SecretState>(`/v1/webhooks/${id}/segredo`),
  ]);
  const mayWrite = session.identity.scopes.has('webhooks:write');
  const done = t.webhooks.done[c.req.query('feito') ?? ''];
  return answerPage(c, {
    title: t.webhooks.one,
    status: (refusal?.status ?? 200) as ContentfulStatusCode,
    body: html`${refusal === undefined ? '' : refusalList(c, refusal.error)}
    ${done === undefined ? '' : notice('done', done)} ${facts(visit, webhook, health)}
    ${mayWrite ? actions(visit, webhook) : ''} ${secretPart(visit, secrets, mayWrite)} ${snippetPart(visit, webhook)}`,
  });
}

function facts(visit: Visit, webhook: WebhookResource, health: WebhookHealthResource): Html {
  const { t } = visit;
  return html`<dl class="facts">
    ${fact(t.webhooks.url, html`<code>${webhook.url}</code>`, 'wrap')} ${fact('Id', webhook.id, 'id')}
    ${fact(t.webhooks.health, healthBadge(t, health))}
    ${fact(
      t.webhooks.delivered,
      html`${deliveredOf(health)} <a href="/painel/entregas?webhook=${webhook.id}">${t.frame.deliveries}</a>`,
    )}
    ${fact(t.webhooks.answers, speed(t, health))}
    ${fact(t.webhooks.lastDelivered, moment(visit, health.ultima_entregue_em))}
    ${fact(t.webhooks.oldestPending, moment(visit, health.pendente_mais_antiga?.criada_em ?? null))}
    ${fact(t.webhooks.events, html`${webhook.eventos.map((name) => html`<code>${name}</code> `)}`)}
  </dl>`;
}

function actions(visit: Visit, webhook: WebhookResource): Html {
  const { t } = visit;
  const path = `/painel/webhooks/${webhook.id}`;
  return html`<div class="actions">
    ${
      webhook.ativo
        ? html`<form method="post" action="${path}/teste" aria-describedby="test-hint">
              ${formToken(visit)}
              <label
                >${t.webhooks.testEvent}
                <select name="evento">
                  ${options('', TEST_NAME, testsFor(webhook))}
                </select></label
              >
              <button class="primary">${t.webhooks.test}</button>
            </form>
            ${confirmed(visit, `${path}/desativar`, { label: t.webhooks.deactivate, question: t.webhooks.deactivateConfirm })}`
        : confirmed(
            visit,
            `${path}/reativar`,
            { label: t.webhooks.reactivate, question: t.webhooks.reactivateConfirm },
            html`<p>
              <label><input type="checkbox" name="retomar" checked /> ${t.webhooks.resume}</label>
            </p>`,
          )
    }
    <a class="button" href="${path}/editar">${t.webhooks.edit}</a>
    ${webhook.ativo ? html`<span id="test-hint" class="dim">${t.webhooks.testHint}</span>` : ''}
  </div>`;
}

/** The webhook's own events first: a test of another one is sent, too. */
function testsFor({ eventos }: WebhookResource): (readonly [value: string, label: string])[] {
  const others = SUBSCRIBABLE_NAMES.filter((name) => !eventos.some((own) => own === name));
  return [...eventos, ...others].map((name) => [name, name] as const);
}

function snippetPart({ t }: Visit, { url }: WebhookResource): Html {
  return html`<section aria-labelledby="verify">
    <h2 id="verify">${t.webhooks.verify}</h2>
    <p class="dim">${t.webhooks.verifyHint}</p>
    ${snippetsFor(url).map(
      ({ language, files }) =>
        html`<details class="card">
          <summary>${language}</summary>
          ${files.map(({ name, code }, index) => copyable(t, `snippet-${language}-${index}`, name, code))}
        </details>`,
    )}
  </section>`;
}
