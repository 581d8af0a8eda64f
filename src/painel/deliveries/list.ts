/** The deliveries' routes, and their search: a form, a page of a list, and the way on; as the API's own lists, by keyset. */
import { html } from 'hono/html';
import type { Proof } from '../../contract/resources/audit-resource.ts';
import { DELIVERY_STATUSES, OUTCOMES } from '../../contract/statuses.ts';
import { deliveredName, type DeliveryResource } from '../../contract/resources/delivery-resource.ts';
import type { WebhookResource } from '../../contract/resources/webhook.ts';
import { id as uuid } from '../../contract/values.ts';
import { addressOf, type Refusal } from '../api-client.ts';
import type { Html, Visit } from '../env.ts';
import { instantOf } from '../frame/clock.ts';
import { idForm, input, labelled, named, select } from '../frame/forms.ts';
import { type Guard, settle } from '../frame/guard.ts';
import { READ, WRITE } from '../frame/nav.ts';
import { type Page, refusalList, wrongField } from '../frame/page.ts';
import { badge, code, dim, live, moment, notice, onward, pauseButton } from '../frame/parts.ts';
import { shortId, shortUrl, standing, statusBadge, table } from '../frame/parts.ts';
import { showDelivery } from './one.ts';
import { showSheet } from './papers.ts';

const PATH = '/painel/entregas';
const EVERY_S = 3;
const FILTERS = ['webhook', 'emprestimo_id', 'evento', 'status', 'resultado', 'status_http', 'desde', 'ate'] as const;
type Filters = Readonly<Record<(typeof FILTERS)[number], string>>;

interface Found {
  readonly itens: readonly DeliveryResource[];
  readonly proximo_cursor: string | null;
}

export function addDeliveryPages(guard: Guard): void {
  guard.show(PATH, READ, showDeliveries);
  guard.show(`${PATH}/exportar`, READ, (visit) => {
    const { path, query } = searchOf(visit, visit.query(...FILTERS));
    return visit.api.pass(addressOf(path, { ...query, formato: 'csv', bom: 'true' }));
  });
  guard.show(`${PATH}/:id`, READ, (visit) => showDelivery(visit));
  guard.act(`${PATH}/:id/reenvio`, WRITE, async (visit) => {
    const answer = await visit.api.send('POST', `/v1/entregas/${visit.id}/reenvio`);
    return settle(visit, answer, `${PATH}/${visit.id}`, 'reenvio', (refusal) => showDelivery(visit, refusal));
  });
  guard.show(`${PATH}/:id/comprovante`, READ, async (visit) =>
    showSheet(visit, await visit.api.read<Proof>(`/v1/entregas/${visit.id}/prova`)),
  );
  guard.show(`${PATH}/:id/prova`, READ, async ({ id, api }) => {
    const proof = await api.pass(`/v1/entregas/${id}/prova`);
    proof.headers.set('Content-Disposition', `attachment; filename="prova-${id}.json"`);
    return proof;
  });
}

async function showDeliveries(visit: Visit): Promise<Page | Response> {
  const { c, api, t } = visit;
  const { id: sought, cursor } = visit.query('id', 'cursor');
  if (sought !== '') return showNamed(visit, sought);

  const filters = visit.query(...FILTERS);
  const { path, query } = searchOf(visit, filters);
  const [active, inactive, answer] = await Promise.all([
    api.read<WebhookResource[]>('/v1/webhooks'),
    api.read<WebhookResource[]>('/v1/webhooks', { ativo: 'false' }),
    api.search<Found>(path, { ...query, cursor, limite: '50' }),
  ]);
  const webhooks = [...active, ...inactive];
  const shown = answer.ok ? results(visit, answer.body, webhooks, filters) : refusalList(c, answer.error);
  // A later page stays as it is: what is new comes on the first one.
  const isLive = answer.ok && cursor === '';
  return {
    title: t.frame.deliveries,
    status: answer.status,
    body: html`${findForm(visit, '')} ${filterForm(visit, filters, webhooks, answer.ok ? undefined : answer)}
      <section id="lista">
        ${listActions(visit, filters, isLive, answer.ok)}
        ${isLive ? live('entregas', addressOf(PATH, filters), EVERY_S, shown) : shown}
      </section>`,
  };
}

/** Of a webhook that is filtered by, the way to its recovery with the same period and event. */
function listActions({ t, mayWrite }: Visit, filters: Filters, isLive: boolean, isFound: boolean): Html {
  const { webhook, desde, ate, evento } = filters;
  const recovery = addressOf(`/painel/webhooks/${webhook}/recuperar`, { desde, ate, evento });
  return html`<p class="actions">
    ${webhook !== '' && mayWrite && html`<a class="button" href="${recovery}">${t.recovery.open}</a>`}
    ${isLive && pauseButton(t)}
    ${isFound && html`<a class="button" href="${addressOf(`${PATH}/exportar`, filters)}">${t.words.csv}</a>`}
  </p>`;
}

/** The API's own list, of one webhook or of all. */
function searchOf({ c }: Visit, { webhook, desde, ate, ...rest }: Filters) {
  const path = webhook === '' ? '/v1/entregas' : `/v1/webhooks/${encodeURIComponent(webhook)}/entregas`;
  const zoned = (at: string) => instantOf(c.var.zone, at);
  return { path, query: { ...rest, desde: zoned(desde), ate: zoned(ate) } };
}

/** An id leads to what it names: a delivery, an event, or a loan of which something was sent or that may be read. */
async function showNamed(visit: Visit, sought: string): Promise<Page | Response> {
  const { c, t, api } = visit;
  const parsed = uuid.safeParse(sought);
  if (parsed.success) {
    const id = parsed.data.toLowerCase();
    const [delivery, event, ofLoan, loan] = await Promise.all([
      api.ask(`/v1/entregas/${id}`),
      api.ask(`/v1/eventos/${id}`),
      api.ask<Found>('/v1/entregas', { emprestimo_id: id, limite: '1' }),
      api.ask(`/v1/emprestimos/${id}`),
    ]);
    if (delivery.ok) return c.redirect(`${PATH}/${id}`, 303);
    if (event.ok) return c.redirect(`/painel/eventos/${id}`, 303);
    const isLoan = loan.ok || (ofLoan.ok && ofLoan.body.itens.length > 0);
    if (isLoan) return c.redirect(`${PATH}?emprestimo_id=${id}`, 303);
  }
  return {
    title: t.frame.deliveries,
    status: 404,
    body: html`${findForm(visit, sought)}${notice('failed', t.deliveries.notNamed)}`,
  };
}

function findForm({ t }: Visit, sought: string): Html {
  return idForm(PATH, t.deliveries.find, sought, t.words.search, t.deliveries.findHint);
}

/** With a script only the list is drawn anew, and the address still tells the search. */
function filterForm({ t }: Visit, filters: Filters, webhooks: readonly WebhookResource[], refusal?: Refusal): Html {
  const urls = webhooks.map(({ id, url }) => [id, `${shortUrl(url)} (${id.slice(-6)})`] as const);
  // One beyond those that are read stays chosen.
  const isListed = filters.webhook === '' || urls.some(([id]) => id === filters.webhook);
  const isUsed = Object.values(filters).some((value) => value !== '');
  const among = (name: keyof Filters, label: string, values: Parameters<typeof select>[3]) =>
    select(label, name, filters[name], [['', t.words.all], ...values]);
  const text = (name: keyof Filters, label: string, kind: Html) =>
    input(label, name, filters[name], html`${wrongField(refusal, name)} ${kind}`);
  return html`<details class="filters" ${isUsed ? html` open` : ''}>
    <summary>${t.deliveries.filters}</summary>
    <form
      method="get"
      action="${PATH}"
      hx-get="${PATH}"
      hx-target="#lista"
      hx-select="#lista"
      hx-swap="outerHTML"
      hx-push-url="true"
      class="grid"
    >
      ${among('webhook', t.deliveries.webhook, isListed ? urls : [...urls, [filters.webhook, filters.webhook.slice(-12)]])}
      ${select(t.deliveries.event, 'evento', filters.evento, named(t.words.all, deliveredName.options))}
      ${among('status', t.deliveries.status, labelled(DELIVERY_STATUSES, t.status))}
      ${among('resultado', t.deliveries.outcome, labelled(OUTCOMES, t.outcome))}
      ${text('status_http', t.deliveries.code, html`inputmode="numeric"`)}
      ${text('emprestimo_id', t.deliveries.loan, html`spellcheck="false"`)}
      ${text('desde', t.deliveries.from, html`type="datetime-local"`)}
      ${text('ate', t.deliveries.until, html`type="datetime-local"`)}
      <p class="actions">
        <button class="primary">${t.deliveries.filter}</button>
        <a class="button" href="${PATH}">${t.words.clear}</a>
      </p>
    </form>
  </details>`;
}

function results(visit: Visit, page: Found, webhooks: readonly WebhookResource[], filters: Filters): Html {
  const { t } = visit;
  const { itens, proximo_cursor: next } = page;
  const urls = new Map(webhooks.map(({ id, url }) => [id, url]));
  const empty = next === null ? t.deliveries.empty : t.deliveries.emptyPage;
  return html`${deliveryTable(visit, itens, urls, empty)}
  ${onward(next && addressOf(PATH, { ...filters, cursor: next }), t.words.next)}`;
}

/** Deliveries as rows, each with its webhook's address where `urls` knows it; without `urls` they are all of one webhook. */
export function deliveryTable(
  visit: Visit,
  items: readonly DeliveryResource[],
  urls: ReadonlyMap<string, string> | null,
  empty: string,
): Html {
  const { t } = visit;
  const words = t.deliveries;
  const row = (item: DeliveryResource) => {
    const { emprestimo_id: loan, proxima_tentativa_em: next, webhook_id: webhook } = item;
    const url = urls?.get(webhook);
    return [
      html`<a href="${PATH}/${item.id}">${code(item.evento)}</a> ${item.teste ? badge(t.delivery.test) : ''}
        <div class="dim">${moment(visit, item.criada_em)} ${shortId(item.id)}</div>`,
      item.em_andamento ? html`${statusBadge(t, item.status)} ${dim(words.inFlight)}` : standing(t, item),
      html`${item.total_tentativas}
      ${next === null ? '' : html`<div class="dim">${words.next}:<br />${moment(visit, next)}</div>`}`,
      loan === null ? '–' : html`<a href="${PATH}?emprestimo_id=${loan}">${shortId(loan)}</a>`,
      html`<a class="wrap" href="/painel/webhooks/${webhook}" title="${webhook}"
        >${url === undefined ? shortId(webhook) : shortUrl(url)}</a
      >`,
    ].slice(0, columns.length);
  };
  const columns = [words.delivery, words.status, words.attempts, words.loan, ...(urls === null ? [] : [words.webhook])];
  return table(words.table, columns, items.map(row), { empty });
}
