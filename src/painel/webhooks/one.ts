/** One webhook: how it fares, what it is sent, its secret, and how its receiver verifies. */
import { randomUUIDv7 } from 'node:crypto';
import { html } from 'hono/html';
import type { SecretState, WebhookHistory, WebhookResource } from '../../contract/resources/webhook.ts';
import type { ConformanceList } from '../../contract/conformance.ts';
import type { DeliveryResource } from '../../contract/resources/delivery-resource.ts';
import type { HealthPeriod, WebhookHealthResource } from '../../contract/resources/webhook-health.ts';
import { DELIVERY_ORDERS, type DeliveryOrder, OUTCOMES } from '../../contract/statuses.ts';
import { deliveryTable } from '../deliveries/table.ts';
import type { Refusal } from '../api-client.ts';
import type { Html, Visit } from '../env.ts';
import { answerPage } from '../frame/page.ts';
import { choices, confirmed, input, select, tick } from '../frame/forms.ts';
import { copyable, doneNotice, fact, moment, shortUrl, table } from '../frame/parts.ts';
import { refusalList } from '../frame/refusals.ts';
import { pulsePart } from '../overview/pulse.ts';
import type { ShownCredentials } from '../../contract/resources/webhook-credentials.ts';
import { conformancePart } from './conformance.ts';
import { credentialsPart } from './credentials.ts';
import { healthBadge } from './list.ts';
import { lossNotices } from './losses.ts';
import { snippetsFor } from './snippets.ts';

const NEWEST = '10';
/** When a new secret may begin to sign, in hours from now; 0 is at once. In two steps unless told otherwise: the last. */
const WAITS_H = [0, 1, 4, 12, 23] as const;

type HistoryLine = WebhookHistory['itens'][number];
type Failure = keyof HealthPeriod['falhas'];

export async function showWebhook(visit: Visit, id: string, refusal?: Refusal): Promise<Response> {
  const { c, t, api, session } = visit;
  const path = `/v1/webhooks/${id}`;
  const [webhook, health, secrets, credentials, { ordem, rotulo }, newest, history, runs, pulse] = await Promise.all([
    api.read<WebhookResource>(path),
    api.read<WebhookHealthResource>(`${path}/saude`),
    api.read<SecretState>(`${path}/segredo`),
    api.read<ShownCredentials>(`${path}/credenciais`),
    api.read<{ ordem: DeliveryOrder; rotulo: string | null }>(`${path}/opcoes`),
    api.read<{ itens: DeliveryResource[] }>(`${path}/entregas`, { limite: NEWEST }),
    api.read<WebhookHistory>(`${path}/historico`, { cursor: c.req.query('antes') ?? '' }),
    api.read<ConformanceList>(`${path}/homologacao`),
    pulsePart(visit, `/painel/webhooks/${id}`, id),
  ]);
  const mayWrite = session.identity.scopes.has('webhooks:write');
  const resent = Number(c.req.query('entregas') ?? '0');
  return answerPage(c, {
    title: `${t.deliveries.webhook} ${rotulo ?? shortUrl(webhook.url)}`,
    status: refusal?.status ?? 200,
    body: html`${refusal === undefined ? '' : refusalList(c, refusal.error)}
      ${doneNotice(visit, { ...t.webhooks.done, recuperado: t.recovery.done(resent) })}
      ${lossNotices(visit, [{ name: null, health }])} ${facts(visit, webhook, health, ordem)}
      ${mayWrite ? actions(visit, webhook, ordem, rotulo) : ''} ${pulse}
      <h2>${t.webhooks.newest}</h2>
      ${newest.itens.length === 0 ? html`<p>${t.deliveries.empty}</p>` : deliveryTable(visit, newest.itens, null)}
      <p><a href="/painel/entregas?webhook=${id}">${t.webhooks.allDeliveries}</a></p>
      ${healthTable(visit, health)} ${secretPart(visit, secrets, mayWrite)}
      ${credentialsPart(visit, id, credentials, mayWrite)} ${conformancePart(visit, id, runs, mayWrite)}
      ${historyPart(visit, id, history)} ${snippetPart(visit, webhook)}`,
  });
}

function facts(visit: Visit, webhook: WebhookResource, health: WebhookHealthResource, order: DeliveryOrder): Html {
  const { t } = visit;
  return html`<dl class="facts">
    ${fact(t.webhooks.url, html`<code>${webhook.url}</code>`, 'wrap')} ${fact('Id', webhook.id, 'id')}
    ${fact(t.webhooks.health, healthBadge(t, health))} ${fact(t.webhooks.order, t.webhooks.orders[order])}
    ${fact(t.webhooks.lastDelivered, moment(visit, health.ultima_entregue_em))}
    ${fact(t.webhooks.oldestPending, moment(visit, health.pendente_mais_antiga?.criada_em ?? null))}
    ${consentFact(visit, health)}
    ${health.certificado_ate === null ? '' : fact(t.webhooks.certificate, moment(visit, health.certificado_ate))}
    ${fact(t.frame.events, html`${webhook.eventos.map((name) => html`<code>${name}</code> `)}`, 'wide')}
  </dl>`;
}

/** Of a URL that has not answered 2xx yet. */
function consentFact(visit: Visit, { sem_consentimento: waits }: WebhookHealthResource): Html | '' {
  if (waits === null) return '';
  const { consent, oneAtATime, oneAMinute } = visit.t.webhooks;
  const { recusas, proxima_entrega_em: next } = waits;
  const said = next === null ? oneAtATime : html`${oneAMinute(recusas)} ${moment(visit, next)}`;
  return fact(consent, said, 'wide');
}

function healthTable({ t }: Visit, { ultimas_24h: day, ultimos_7d: week }: WebhookHealthResource): Html {
  const row = (label: string, valueOf: (period: HealthPeriod) => string) => [label, valueOf(day), valueOf(week)];
  const ms = (value: number | null) => (value === null ? '–' : t.words.ms(value));
  const failures = OUTCOMES.filter((outcome) => outcome !== 'entregue' && week.falhas[outcome] > 0) as Failure[];
  return html`<h2>${t.deliveries.attempts}</h2>
    ${table(
      t.deliveries.attempts,
      [t.webhooks.outcome, { number: t.overview.windows['24h'] ?? '' }, { number: t.overview.windows['7d'] ?? '' }],
      [
        row(t.overview.delivered, ({ entregues }) => String(entregues)),
        ...failures.map((outcome) => row(t.outcome[outcome], ({ falhas }) => String(falhas[outcome]))),
        row('p50', ({ p50_ms }) => ms(p50_ms)),
        row('p95', ({ p95_ms }) => ms(p95_ms)),
      ],
    )}`;
}

function actions(visit: Visit, webhook: WebhookResource, order: DeliveryOrder, label: string | null): Html {
  const { t } = visit;
  const path = `/painel/webhooks/${webhook.id}`;
  const [other] = DELIVERY_ORDERS.filter((known) => known !== order) as [DeliveryOrder];
  return html`<div class="actions">
    ${
      webhook.ativo
        ? html`<a class="button primary" href="${path}/teste">${t.webhooks.test}</a>
            ${confirmed(visit, `${path}/desativar`, { label: t.webhooks.deactivate, question: t.webhooks.deactivateConfirm })}`
        : confirmed(
            visit,
            `${path}/reativar`,
            { label: t.webhooks.reactivate, question: t.webhooks.reactivateConfirm },
            html`<p>${tick(t.webhooks.resume, 'retomar', 'on', true)}</p>`,
          )
    }
    <a class="button" href="${path}/recuperar">${t.recovery.open}</a>
    <a class="button" href="${path}/editar">${t.webhooks.edit}</a>
    ${confirmed(
      visit,
      `${path}/ordem`,
      { label: t.webhooks.changeOrder, question: t.webhooks.orderConfirm[other] },
      html`<input type="hidden" name="ordem" value="${other}" />`,
    )}
    ${confirmed(
      visit,
      `${path}/rotulo`,
      { label: t.webhooks.nameIt, question: t.webhooks.labelHint },
      html`<p>${input(t.webhooks.label, 'rotulo', label ?? '', html`maxlength="80"`)}</p>`,
    )}
  </div>`;
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

/** Where the rotation of its secret stands, and the next step of it. */
function secretPart(visit: Visit, state: SecretState, mayWrite: boolean): Html {
  const { t } = visit;
  return html`<section aria-labelledby="secret">
    <h2 id="secret">${t.webhooks.secret}</h2>
    ${secretStanding(visit, state)} ${mayWrite ? html`<div class="actions">${secretSteps(visit, state)}</div>` : ''}
  </section>`;
}

function secretStanding(visit: Visit, { vale_em: waitsUntil, anterior_ate: previousUntil }: SecretState): Html {
  const { t } = visit;
  if (waitsUntil !== null) return html`<p>${t.webhooks.waits} ${countdown(visit, waitsUntil)}</p>`;
  if (previousUntil !== null) return html`<p>${t.webhooks.overlaps} ${countdown(visit, previousUntil)}</p>`;
  return html`<p>${t.webhooks.alone}</p>`;
}

/** A moment with the time that is left till then, which a script counts down. */
function countdown(visit: Visit, at: string): Html {
  return html`${moment(visit, at)} <strong data-until="${at}"></strong>`;
}

function secretSteps(visit: Visit, { id, vale_em: waitsUntil, anterior_ate: previousUntil }: SecretState): Html {
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
    <input type="hidden" name="chave" value="${randomUUIDv7()}" />
    ${select(t.webhooks.signsFrom, 'horas', choices(String(WAITS_H.at(-1)), waits))}
  </p>`;
  return confirmed(visit, path, { label: t.webhooks.rotate, question: t.webhooks.rotateConfirm }, fields);
}

/** What changed of it, when and by whom; the newest first. */
function historyPart(visit: Visit, id: string, { itens, proximo_cursor }: WebhookHistory): Html {
  const { operator: words } = visit.t;
  const rows = itens.map((line, index) => [
    moment(visit, line.mudou_em),
    html`<code>${line.mudanca}</code>`,
    line.autor,
    difference(line, itens[index + 1]),
  ]);
  const older = html`<p><a href="/painel/webhooks/${id}?antes=${proximo_cursor}#historico">${words.older}</a></p>`;
  return html`<h2 id="historico">${words.history}</h2>
    ${table(words.history, [visit.t.loans.at, words.change, words.author, visit.t.webhooks.changed], rows, 'fields')}
    ${proximo_cursor === null ? '' : older}`;
}

/** What a change made other than it was; `before` is the line below, if it is known. */
function difference({ url, eventos }: HistoryLine, before: HistoryLine | undefined): Html | '' {
  if (before === undefined) return '';
  const added = eventos.filter((name) => !before.eventos.includes(name)).map((name) => `+${name}`);
  const removed = before.eventos.filter((name) => !eventos.includes(name)).map((name) => `−${name}`);
  return html`${url === before.url ? '' : html`<code class="wrap">${before.url} → ${url}</code> `}
  ${[...added, ...removed].map((text) => html`<code>${text}</code> `)}`;
}
