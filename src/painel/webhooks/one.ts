/** One webhook: its health, its deliveries, its secret, and the verification in its receiver. */
import { randomUUIDv7 } from 'node:crypto';
import { html } from 'hono/html';
import type { SecretState, WebhookHistory, WebhookResource } from '../../contract/resources/webhook.ts';
import type { ConformanceList } from '../../contract/conformance.ts';
import type { DeliveryResource } from '../../contract/resources/delivery-resource.ts';
import type { HealthPeriod, WebhookHealthResource } from '../../contract/resources/webhook-health.ts';
import { DELIVERY_ORDERS, type DeliveryOrder, OUTCOMES } from '../../contract/statuses.ts';
import type { ShownCredentials } from '../../contract/resources/webhook-credentials.ts';
import type { Refusal } from '../api-client.ts';
import { deliveryTable } from '../deliveries/list.ts';
import type { Html, Visit } from '../env.ts';
import { confirmed, hidden, input, select, tick } from '../frame/forms.ts';
import type { Page } from '../frame/page.ts';
import { code, copyable, fact, moment, onward, shortUrl, table } from '../frame/parts.ts';
import { pulsePart } from '../overview/pulse.ts';
import { conformancePart } from './conformance.ts';
import { credentialsPart } from './credentials.ts';
import { healthBadge, lossNotice } from './list.ts';
import { snippetsFor } from './snippets.ts';

const NEWEST = '10';
/** When a new secret may begin to sign, in hours from now; 0 is at once. In two steps unless told otherwise: the last. */
export const WAITS_H = [0, 1, 4, 12, 23] as const;

type HistoryLine = WebhookHistory['itens'][number];
type Failure = keyof HealthPeriod['falhas'];

export async function showWebhook(visit: Visit, refusal?: Refusal): Promise<Page> {
  const { t, api, id, mayWrite } = visit;
  const path = `/v1/webhooks/${id}`;
  const { antes, entregas } = visit.query('antes', 'entregas');
  const [webhook, health, secrets, credentials, { ordem, rotulo }, newest, history, runs, pulse] = await Promise.all([
    api.read<WebhookResource>(path),
    api.read<WebhookHealthResource>(`${path}/saude`),
    api.read<SecretState>(`${path}/segredo`),
    api.read<ShownCredentials>(`${path}/credenciais`),
    api.read<{ ordem: DeliveryOrder; rotulo: string | null }>(`${path}/opcoes`),
    api.read<{ itens: DeliveryResource[] }>(`${path}/entregas`, { limite: NEWEST }),
    api.read<WebhookHistory>(`${path}/historico`, { cursor: antes }),
    api.read<ConformanceList>(`${path}/homologacao`),
    pulsePart(visit, `/painel/webhooks/${id}`, id),
  ]);
  return {
    title: `${t.deliveries.webhook} ${rotulo ?? shortUrl(webhook.url)}`,
    refusal,
    done: { ...t.webhooks.done, recuperado: t.recovery.done(Number(entregas)) },
    body: html`${lossNotice(visit, health)} ${facts(visit, webhook, health, ordem)}
      ${mayWrite && actions(visit, webhook, ordem, rotulo)} ${pulse}
      <h2>${t.webhooks.newest}</h2>
      ${deliveryTable(visit, newest.itens, null, t.deliveries.empty)}
      <p><a href="/painel/entregas?webhook=${id}">${t.webhooks.allDeliveries}</a></p>
      ${healthTable(visit, health)} ${secretPart(visit, secrets)} ${credentialsPart(visit, credentials)}
      ${conformancePart(visit, runs)} ${historyPart(visit, history)} ${snippetPart(visit, webhook)}`,
  };
}

function facts(visit: Visit, webhook: WebhookResource, health: WebhookHealthResource, order: DeliveryOrder): Html {
  const { t } = visit;
  return html`<dl class="facts">
    ${fact(t.webhooks.url, code(webhook.url), 'wrap')} ${fact('Id', webhook.id, 'id')}
    ${fact(t.webhooks.health, healthBadge(t, health))} ${fact(t.webhooks.order, t.webhooks.orders[order])}
    ${fact(t.webhooks.lastDelivered, moment(visit, health.ultima_entregue_em))}
    ${fact(t.webhooks.oldestPending, moment(visit, health.pendente_mais_antiga?.criada_em ?? null))}
    ${consentFact(visit, health)}
    ${health.certificado_ate && fact(t.webhooks.certificate, moment(visit, health.certificado_ate))}
    ${fact(t.frame.events, html`${webhook.eventos.map((name) => html`${code(name)} `)}`, 'wide')}
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
  const { deactivate, deactivateConfirm, reactivate, reactivateConfirm, test, resume, edit } = t.webhooks;
  const { changeOrder, orderConfirm, nameIt, labelHint, label: labelled } = t.webhooks;
  return html`<div class="actions">
    ${
      webhook.ativo
        ? html`<a class="button primary" href="${path}/teste">${test}</a>
            ${confirmed(visit, `${path}/desativar`, deactivate, deactivateConfirm)}`
        : confirmed(
            visit,
            `${path}/reativar`,
            reactivate,
            reactivateConfirm,
            html`<p>${tick(resume, 'retomar', 'on', true)}</p>`,
          )
    }
    <a class="button" href="${path}/recuperar">${t.recovery.open}</a>
    <a class="button" href="${path}/editar">${edit}</a>
    ${confirmed(visit, `${path}/ordem`, changeOrder, orderConfirm[other], hidden('ordem', other))}
    ${confirmed(visit, `${path}/rotulo`, nameIt, labelHint, html`<p>${input(labelled, 'rotulo', label ?? '', html`maxlength="80"`)}</p>`)}
  </div>`;
}

function snippetPart({ t }: Visit, { url }: WebhookResource): Html {
  return html`<section aria-labelledby="verify">
    <h2 id="verify">${t.webhooks.verify}</h2>
    <p class="dim">${t.webhooks.verifyHint}</p>
    ${snippetsFor(url).map(
      ({ language, server, verifier }) =>
        html`<details class="card">
          <summary>${language}</summary>
          ${[server, verifier].map(({ name, code: text }, index) => copyable(t, `snippet-${language}-${index}`, name, text))}
        </details>`,
    )}
  </section>`;
}

/** Where the rotation of its secret stands, and the next step of it. */
function secretPart(visit: Visit, { vale_em: waitsUntil, anterior_ate: previousUntil }: SecretState): Html {
  const { t, id, mayWrite } = visit;
  const words = t.webhooks;
  const step = (act: string, label: string, question: string, fields: Html | '' = '') =>
    confirmed(visit, `/painel/webhooks/${id}/segredo${act}`, label, question, fields);
  const [stands, steps] =
    waitsUntil !== null
      ? [
          html`${words.waits} ${countdown(visit, waitsUntil)}`,
          html`${step('/ativar', words.activate, words.activateConfirm)}
          ${step('/descartar', words.discard, words.discardConfirm)}`,
        ]
      : previousUntil !== null
        ? [html`${words.overlaps} ${countdown(visit, previousUntil)}`, step('/encerrar', words.end, words.endConfirm)]
        : [words.alone, step('', words.rotate, words.rotateConfirm, rotationFields(visit))];
  return html`<section aria-labelledby="secret">
    <h2 id="secret">${words.secret}</h2>
    <p>${stands}</p>
    ${mayWrite && html`<div class="actions">${steps}</div>`}
  </section>`;
}

function rotationFields({ t }: Visit): Html {
  const waits = WAITS_H.map(
    (hours) => [String(hours), hours === 0 ? t.words.soon : t.webhooks.inHours(hours)] as const,
  );
  return html`<p>
    ${hidden('chave', randomUUIDv7())} ${select(t.webhooks.signsFrom, 'horas', String(WAITS_H.at(-1)), waits)}
  </p>`;
}

/** A moment with the time that is left till then, which a script counts down. */
function countdown(visit: Visit, at: string): Html {
  return html`${moment(visit, at)} <strong data-until="${at}"></strong>`;
}

/** What changed of it, when and by whom; the newest first. */
function historyPart(visit: Visit, { itens, proximo_cursor: next }: WebhookHistory): Html {
  const { t, id } = visit;
  const words = t.operator;
  const rows = itens.map((line, index) => [
    moment(visit, line.mudou_em),
    code(line.mudanca),
    line.autor,
    difference(line, itens[index + 1]),
  ]);
  return html`<h2 id="historico">${words.history}</h2>
    ${table(words.history, [t.loans.at, words.change, words.author, t.webhooks.changed], rows, { wraps: true })}
    ${onward(next && `/painel/webhooks/${id}?antes=${next}#historico`, words.older)}`;
}

/** What a change made other than it was; `before` is the line below, if it is known. */
function difference({ url, eventos }: HistoryLine, before: HistoryLine | undefined): Html | '' {
  if (before === undefined) return '';
  const added = eventos.filter((name) => !before.eventos.includes(name)).map((name) => `+${name}`);
  const removed = before.eventos.filter((name) => !eventos.includes(name)).map((name) => `−${name}`);
  return html`${url === before.url ? '' : html`<code class="wrap">${before.url} → ${url}</code> `}
  ${[...added, ...removed].map((text) => html`${code(text)} `)}`;
}
