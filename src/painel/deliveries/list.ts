/** The search of deliveries: a form, a page of a list, and the way on; as the API's own lists, by keyset. */
import { html } from 'hono/html';
import { DELIVERY_STATUSES, OUTCOMES } from '../../contract/statuses.ts';
import { deliveredName, type DeliveryResource, type FeedItem } from '../../contract/resources/delivery-resource.ts';
import type { WebhookResource } from '../../contract/resources/webhook.ts';
import { id as uuid } from '../../contract/values.ts';
import { type Answer, Refused } from '../api-client.ts';
import type { Html, Visit } from '../env.ts';
import { answerPage } from '../frame/page.ts';
import { moment, notice, options, outcomeBadge, shortId, shortUrl, statusBadge } from '../frame/parts.ts';
import { refusalList } from '../frame/refusals.ts';

const LIMIT = '50';
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

  const filters = Object.fromEntries(FILTERS.map((name) => [name, query.get(name)?.trim() ?? ''])) as Filters;
  const [webhooks, answer] = await Promise.all([
    api.read<WebhookResource[]>('/v1/webhooks', { ativo: 'todos', limite: '100' }),
    askForPage(visit, filters, query.get('cursor') ?? ''),
  ]);
  if (!answer.ok && answer.status !== 400) throw new Refused(answer);
  return answerPage(c, {
    title: t.deliveries.title,
    status: answer.ok ? 200 : 400,
    body: html`${idForm(visit, '')} ${filterForm(visit, filters, webhooks)}
      <section id="lista" aria-live="polite">
        ${answer.ok ? results(visit, answer.body, webhooks, filters) : refusalList(c, answer.error)}
      </section>`,
  });
}

/** The API's own list, of one webhook or of all. The form's instants are Brasília's, which has no summer time. */
async function askForPage({ api }: Visit, filters: Filters, cursor: string): Promise<Answer<Page>> {
  const { webhook, desde, ate, ...rest } = filters;
  const path = webhook === '' ? '/v1/entregas' : `/v1/webhooks/${encodeURIComponent(webhook)}/entregas`;
  const zoned = (at: string) => (/^\d{4}-\d\d-\d\dT\d\d:\d\d$/.test(at) ? `${at}:00-03:00` : at);
  return api.ask<Page>(path, { ...rest, desde: zoned(desde), ate: zoned(ate), cursor, limite: LIMIT });
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
      api.ask<FeedItem>(`/v1/eventos/${id}`),
      api.ask<Page>('/v1/entregas', { emprestimo_id: id, limite: '1' }),
      api.ask(`/v1/emprestimos/${id}`),
    ]));
  if (asked) {
    const [delivery, event, ofLoan, loan] = asked;
    if (delivery.ok) return c.redirect(`/painel/entregas/${id}`, 303);
    if (event.ok) return showEvent(visit, sought, event.body);
    const isLoan = loan.ok || (ofLoan.ok && ofLoan.body.itens.length > 0);
    if (isLoan) return c.redirect(`/painel/entregas?emprestimo_id=${id}`, 303);
  }
  return answerPage(c, {
    title: t.deliveries.title,
    status: 404,
    body: html`${idForm(visit, sought)}${notice('failed', t.deliveries.notNamed)}`,
  });
}

function showEvent(visit: Visit, sought: string, { evento_id, entregas }: FeedItem): Response | Promise<Response> {
  const { c, t } = visit;
  return answerPage(c, {
    title: t.deliveries.title,
    body: html`${idForm(visit, sought)}
      <h2>${t.deliveries.ofEvent} ${shortId(evento_id)}</h2>
      <ul class="plain">
        ${entregas.map(
          ({ id, status }) => html`<li><a href="/painel/entregas/${id}">${id}</a> ${statusBadge(t, status)}</li>`,
        )}
      </ul>`,
  });
}

function idForm({ t }: Visit, sought: string): Html {
  return html`<form class="inline" method="get" action="/painel/entregas" role="search">
    <label for="id">${t.deliveries.find}</label>
    <input
      id="id"
      name="id"
      value="${sought}"
      size="38"
      autocomplete="off"
      spellcheck="false"
      aria-describedby="id-hint"
    />
    <button>${t.words.search}</button>
    <span id="id-hint" class="dim">${t.deliveries.findHint}</span>
  </form>`;
}

/** With a script only the list is drawn anew, and the address still tells the search. */
function filterForm({ t }: Visit, filters: Filters, webhooks: readonly WebhookResource[]): Html {
  const { all } = t.words;
  const isUsed = Object.values(filters).some((value) => value !== '');
  const given = (name: keyof Filters) => filters[name];
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
      <label
        >${t.deliveries.webhook}<select name="webhook">
          ${options(
            given('webhook'),
            all,
            webhooks.map(({ id, url }) => [id, `${shortUrl(url)} (${id.slice(-6)})`] as const),
          )}
        </select></label
      >
      <label
        >${t.deliveries.event}<select name="evento">
          ${options(
            given('evento'),
            all,
            deliveredName.options.map((name) => [name, name] as const),
          )}
        </select></label
      >
      <label
        >${t.deliveries.status}<select name="status">
          ${options(
            given('status'),
            all,
            DELIVERY_STATUSES.map((status) => [status, t.status[status]] as const),
          )}
        </select></label
      >
      <label
        >${t.deliveries.outcome}<select name="resultado">
          ${options(
            given('resultado'),
            all,
            OUTCOMES.map((outcome) => [outcome, t.outcome[outcome]] as const),
          )}
        </select></label
      >
      <label
        >${t.deliveries.code}<input name="status_http" inputmode="numeric" size="4" value="${given('status_http')}"
      /></label>
      <label
        >${t.deliveries.loan}<input name="emprestimo_id" spellcheck="false" value="${given('emprestimo_id')}"
      /></label>
      <label>${t.deliveries.from}<input type="datetime-local" name="desde" value="${given('desde')}" /></label>
      <label>${t.deliveries.until}<input type="datetime-local" name="ate" value="${given('ate')}" /></label>
      <p class="actions">
        <button class="primary">${t.deliveries.filter}</button>
        <a class="button" href="/painel/entregas">${t.words.clear}</a>
      </p>
    </form>
  </details>`;
}

function results(visit: Visit, page: Page, webhooks: readonly WebhookResource[], filters: Filters): Html {
  const { t } = visit;
  const { itens, proximo_cursor: next } = page;
  const urls = new Map(webhooks.map(({ id, url }) => [id, url]));
  const rest = new URLSearchParams(
    Object.entries({ ...filters, cursor: next ?? '' }).filter(([, value]) => value !== ''),
  );
  const onward =
    next === null
      ? ''
      : html`<p><a class="button" rel="next" href="/painel/entregas?${rest.toString()}">${t.words.next}</a></p>`;
  if (itens.length === 0)
    return html`<p>${next === null ? t.deliveries.empty : t.deliveries.emptyPage}</p>
      ${onward}`;
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${t.deliveries.table}">
      <table>
        <caption class="hidden">
          ${t.deliveries.table}
        </caption>
        <thead>
          <tr>
            <th scope="col">${t.deliveries.delivery}</th>
            <th scope="col">${t.deliveries.status}</th>
            <th scope="col">${t.deliveries.attempts}</th>
            <th scope="col">${t.deliveries.loan}</th>
            <th scope="col">${t.deliveries.webhook}</th>
          </tr>
        </thead>
        <tbody>
          ${itens.map((item) => row(visit, item, urls.get(item.webhook_id)))}
        </tbody>
      </table>
    </div>
    ${onward}`;
}

function row(visit: Visit, item: DeliveryResource, url: string | undefined): Html {
  const { t } = visit;
  const loan = item.emprestimo_id;
  const next = item.proxima_tentativa_em;
  return html`<tr>
    <td>
      <a href="/painel/entregas/${item.id}"><code>${item.evento}</code></a>
      <div class="dim">${moment(visit, item.criada_em)} ${shortId(item.id)}</div>
    </td>
    <td>
      ${statusBadge(t, item.status)}
      <div>
        ${
          item.em_andamento
            ? html`<span class="dim">${t.deliveries.inFlight}</span>`
            : outcomeBadge(t, item.ultimo_resultado, item.ultimo_status_http)
        }
      </div>
    </td>
    <td>
      ${item.total_tentativas}
      ${next === null ? '' : html`<div class="dim">${t.deliveries.next}: ${moment(visit, next)}</div>`}
    </td>
    <td>
      ${loan === null ? html`<span class="dim">–</span>` : html`<a href="/painel/entregas?emprestimo_id=${loan}">${shortId(loan)}</a>`}
    </td>
    <td>
      ${url === undefined ? shortId(item.webhook_id) : html`<span title="${item.webhook_id}">${shortUrl(url)}</span>`}
    </td>
  </tr>`;
}
