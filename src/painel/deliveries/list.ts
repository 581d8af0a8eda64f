/** The search of deliveries: a form, a page of a list, and the way on; as the API's own lists, by keyset. */
import { html } from 'hono/html';
import { DELIVERY_STATUSES, OUTCOMES } from '../../contract/statuses.ts';
import { deliveredName, type DeliveryResource } from '../../contract/resources/delivery-resource.ts';
import type { WebhookResource } from '../../contract/resources/webhook.ts';
import { id as uuid } from '../../contract/values.ts';
import { addressOf, type Answer, type ApiClient, type Refusal, Refused } from '../api-client.ts';
import type { Html, Visit } from '../env.ts';
import { instantOf } from '../frame/clock.ts';
import { answerPage } from '../frame/page.ts';
import { idForm, input, labelled, named, options, select } from '../frame/forms.ts';
import { notice, onward, pauseButton, shortUrl } from '../frame/parts.ts';
import { refusalList, wrongField } from '../frame/refusals.ts';
import { fieldsOf } from '../address.ts';
import type { Streams } from '../live.ts';
import { deliveryTable } from './table.ts';

const LIMIT = '50';
const EVERY_MS = 3_000;
const FILTERS = ['webhook', 'emprestimo_id', 'evento', 'status', 'resultado', 'status_http', 'desde', 'ate'] as const;
type Filters = Readonly<Record<(typeof FILTERS)[number], string>>;

interface Page {
  readonly itens: readonly DeliveryResource[];
  readonly proximo_cursor: string | null;
}

export async function showDeliveries(visit: Visit): Promise<Response> {
  const { c, api, t } = visit;
  const query = new URL(c.req.url).searchParams;
  const sought = query.get('id')?.trim() ?? '';
  if (sought !== '') return showNamed(visit, sought);

  const filters = fieldsOf(visit.c, FILTERS);
  const cursor = query.get('cursor') ?? '';
  const [webhooks, answer] = await Promise.all([readWebhooks(api), askForPage(visit, filters, cursor)]);
  if (!answer.ok && answer.status !== 400) throw new Refused(answer);
  // A later page stays as it is: what is new comes on the first one.
  const live = answer.ok && cursor === '' ? addressOf('/painel/entregas/ao-vivo', filters) : null;
  return answerPage(c, {
    title: t.frame.deliveries,
    status: answer.ok ? 200 : 400,
    body: html`${findForm(visit, '')} ${filterForm(visit, filters, webhooks, answer.ok ? undefined : answer)}
      <section id="lista" ${live === null ? '' : html`data-live="${live}"`}>
        ${listActions(visit, filters, live, answer.ok)}
        <div data-part="lista">
          ${answer.ok ? results(visit, answer.body, urlsOf(webhooks), filters) : refusalList(c, answer.error)}
        </div>
      </section>`,
  });
}

/** The list's first page, again whenever it changed. */
export async function streamDeliveries(streams: Streams, visit: Visit): Promise<Response> {
  const filters = fieldsOf(visit.c, FILTERS);
  const urls = urlsOf(await readWebhooks(visit.api));
  return streams.open(visit, EVERY_MS, async () => {
    const answer = await askForPage(visit, filters, '');
    if (!answer.ok) throw new Refused(answer);
    return [{ event: 'lista', data: String(await results(visit, answer.body, urls, filters)) }];
  });
}

function readWebhooks(api: ApiClient): Promise<WebhookResource[]> {
  return api.read<WebhookResource[]>('/v1/webhooks', { ativo: 'todos', limite: '100' });
}

function urlsOf(webhooks: readonly WebhookResource[]): ReadonlyMap<string, string> {
  return new Map(webhooks.map(({ id, url }) => [id, url]));
}

/** Of a webhook that is filtered by, the way to its recovery with the same period and event. */
function listActions({ t, session }: Visit, filters: Filters, live: string | null, isFound: boolean): Html {
  const { webhook, desde, ate, evento } = filters;
  const mayRecover = webhook !== '' && session.identity.scopes.has('webhooks:write');
  return html`<p class="actions">
    ${
      mayRecover
        ? html`<a class="button" href="${addressOf(`/painel/webhooks/${webhook}/recuperar`, { desde, ate, evento })}"
            >${t.recovery.open}</a
          >`
        : ''
    }
    ${live !== null && pauseButton(t)}
    ${isFound ? html`<a class="button" href="${addressOf('/painel/entregas/exportar', filters)}">${t.words.csv}</a>` : ''}
  </p>`;
}

/** The API's own list, of one webhook or of all. */
function askForPage(visit: Visit, filters: Filters, cursor: string): Promise<Answer<Page>> {
  const { path, query } = searchOf(visit, filters);
  return visit.api.ask<Page>(path, { ...query, cursor, limite: LIMIT });
}

function searchOf({ c }: Visit, { webhook, desde, ate, ...rest }: Filters) {
  const path = webhook === '' ? '/v1/entregas' : `/v1/webhooks/${encodeURIComponent(webhook)}/entregas`;
  const zoned = (at: string) => instantOf(c.var.zone, at);
  return { path, query: { ...rest, desde: zoned(desde), ate: zoned(ate) } };
}

/** All that the filters find, as a file that a spreadsheet opens. */
export function exportDeliveries(visit: Visit): Promise<Response> {
  const { path, query } = searchOf(visit, fieldsOf(visit.c, FILTERS));
  return visit.api.pass(addressOf(path, { ...query, formato: 'csv', bom: 'true' }));
}

/** An id leads to what it names: a delivery, an event, or a loan of which something was sent or that may be read. */
async function showNamed(visit: Visit, sought: string): Promise<Response> {
  const { c, t, api } = visit;
  const parsed = uuid.safeParse(sought);
  const id = parsed.success ? parsed.data.toLowerCase() : '';
  const asked =
    id !== '' &&
    (await Promise.all([
      api.ask(`/v1/entregas/${id}`),
      api.ask(`/v1/eventos/${id}`),
      api.ask<Page>('/v1/entregas', { emprestimo_id: id, limite: '1' }),
      api.ask(`/v1/emprestimos/${id}`),
    ]));
  if (asked) {
    const [delivery, event, ofLoan, loan] = asked;
    if (delivery.ok) return c.redirect(`/painel/entregas/${id}`, 303);
    if (event.ok) return c.redirect(`/painel/eventos/${id}`, 303);
    const isLoan = loan.ok || (ofLoan.ok && ofLoan.body.itens.length > 0);
    if (isLoan) return c.redirect(`/painel/entregas?emprestimo_id=${id}`, 303);
  }
  return answerPage(c, {
    title: t.frame.deliveries,
    status: 404,
    body: html`${findForm(visit, sought)}${notice('failed', t.deliveries.notNamed)}`,
  });
}

function findForm({ t }: Visit, sought: string): Html {
  return idForm('/painel/entregas', t.deliveries.find, sought, t.words.search, t.deliveries.findHint);
}

/** With a script only the list is drawn anew, and the address still tells the search. */
function filterForm(
  { t }: Visit,
  filters: Filters,
  webhooks: readonly WebhookResource[],
  refusal: Refusal | undefined,
): Html {
  const urls = webhooks.map(({ id, url }) => [id, `${shortUrl(url)} (${id.slice(-6)})`] as const);
  const isUsed = Object.values(filters).some((value) => value !== '');
  const among = (name: keyof Filters, label: string, values: Parameters<typeof options>[2]) =>
    select(label, name, options(filters[name], t.words.all, values));
  const text = (name: keyof Filters, label: string, kind: Html) =>
    input(label, name, filters[name], html`${wrongField(refusal, name)} ${kind}`);
  return html`<details class="filters" ${isUsed ? html` open` : ''}>
    <summary>${t.deliveries.filters}</summary>
    <form
      method="get"
      action="/painel/entregas"
      hx-get="/painel/entregas"
      hx-target="#lista"
      hx-select="#lista"
      hx-swap="outerHTML"
      hx-push-url="true"
      class="grid"
    >
      ${among('webhook', t.deliveries.webhook, urls)}
      ${select(t.deliveries.event, 'evento', named(filters.evento, t.words.all, deliveredName.options))}
      ${among('status', t.deliveries.status, labelled(DELIVERY_STATUSES, t.status))}
      ${among('resultado', t.deliveries.outcome, labelled(OUTCOMES, t.outcome))}
      ${text('status_http', t.deliveries.code, html`inputmode="numeric"`)}
      ${text('emprestimo_id', t.deliveries.loan, html`spellcheck="false"`)}
      ${text('desde', t.deliveries.from, html`type="datetime-local"`)}
      ${text('ate', t.deliveries.until, html`type="datetime-local"`)}
      <p class="actions">
        <button class="primary">${t.deliveries.filter}</button>
        <a class="button" href="/painel/entregas">${t.words.clear}</a>
      </p>
    </form>
  </details>`;
}

function results(visit: Visit, page: Page, urls: ReadonlyMap<string, string>, filters: Filters): Html {
  const { t } = visit;
  const { itens, proximo_cursor: next } = page;
  const address = next && addressOf('/painel/entregas', { ...filters, cursor: next });
  const empty = html`<p>${next === null ? t.deliveries.empty : t.deliveries.emptyPage}</p>`;
  return html`${itens.length === 0 ? empty : deliveryTable(visit, itens, urls)} ${onward(address, t.words.next)}`;
}
