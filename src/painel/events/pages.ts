/** The feed: what happened, in the order of commits, each event with its body beside its deliveries. */
import { html } from 'hono/html';
import { SUBSCRIBABLE_NAMES } from '../../contract/events.ts';
import type { FeedItem } from '../../contract/resources/delivery-resource.ts';
import { addressOf } from '../api-client.ts';
import type { Html, Visit } from '../env.ts';
import { instantOf, localTime } from '../frame/clock.ts';
import { input, named, select, tick } from '../frame/forms.ts';
import type { Guard } from '../frame/guard.ts';
import { READ } from '../frame/nav.ts';
import { type Page, refusalList } from '../frame/page.ts';
import { badge, code, copyable, dim, fact, moment, onward, shortId, statusBadge, table } from '../frame/parts.ts';
import { loanFact, loanPath } from '../loans/pages.ts';
import { readNames } from '../webhooks/list.ts';

type Names = ReadonlyMap<string, string>;

const PATH = '/painel/eventos';
const DAY_MS = 86_400_000;

interface FeedPage {
  readonly itens: readonly FeedItem[];
  readonly proximo_cursor: string | null;
  readonly ha_mais: boolean;
}

export function addEventPages(guard: Guard): void {
  guard.show(PATH, READ, showFeed);
  guard.show(`${PATH}/:id`, READ, showEvent);
}

async function showFeed(visit: Visit): Promise<Page> {
  const { c, t, api } = visit;
  const { desde, depois, ...filter } = visit.query('desde', 'depois', 'evento', 'historico');
  const since = desde || localTime(c.var.zone, Date.now() - DAY_MS);
  const asked = { ...filter, desde: instantOf(c.var.zone, since), depois, limite: '50' };
  const [answer, names] = await Promise.all([api.search<FeedPage>('/v1/eventos', asked), readNames(visit)]);
  return {
    title: t.frame.events,
    status: answer.status,
    body: html`<p>${t.events.intro} <a href="/docs/eventos">${t.events.catalog}</a></p>
      ${form(visit, since, filter)}
      ${answer.ok ? results(visit, answer.body, names, { ...filter, desde: since }) : refusalList(c, answer.error)}`,
  };
}

function form({ t }: Visit, since: string, { evento, historico }: Readonly<Record<string, string>>): Html {
  return html`<form class="inline" method="get" action="${PATH}">
    ${input(t.deliveries.from, 'desde', since, html`type="datetime-local"`)}
    ${select(t.deliveries.event, 'evento', evento ?? '', named(t.words.all, SUBSCRIBABLE_NAMES))}
    ${tick(t.events.history, 'historico', 'true', historico === 'true')}
    <button class="primary">${t.deliveries.filter}</button>
  </form>`;
}

function results(
  visit: Visit,
  { itens, proximo_cursor, ha_mais }: FeedPage,
  names: Names,
  filter: Record<string, string>,
): Html {
  const { t } = visit;
  const next = addressOf(PATH, { ...filter, depois: proximo_cursor ?? '' });
  return html`${
    itens.length === 0 ? html`<p>${ha_mais ? t.deliveries.emptyPage : t.events.empty}</p>` : byDay(visit, itens, names)
  }
  ${onward(next, ha_mais ? t.words.next : t.events.newer)}`;
}

/** The events of each day behind a fold; the first day is open. */
function byDay(visit: Visit, itens: readonly FeedItem[], names: Names): Html {
  const { t, c } = visit;
  const days = Map.groupBy(itens, ({ envelope }) =>
    envelope === undefined ? '–' : localTime(c.var.zone, Date.parse(envelope.timestamp)).slice(0, 10),
  );
  return html`${[...days].map(
    ([day, events], at) =>
      html`<details class="card" ${at === 0 ? html`open` : ''}>
        <summary>${day} ${dim(t.events.count(events.length))}</summary>
        ${table(
          `${t.frame.events} ${day}`,
          [t.deliveries.event, t.loans.at, t.deliveries.loan, t.frame.deliveries],
          events.map((item) => row(visit, item, names)),
        )}
      </details>`,
  )}`;
}

function row(visit: Visit, item: FeedItem, names: Names) {
  const loan = item.emprestimo_id;
  return [
    html`<a href="${PATH}/${item.evento_id}"><code>${item.envelope?.evento ?? shortId(item.evento_id)}</code></a>
      ${marks(visit, item)}`,
    moment(visit, item.envelope?.timestamp ?? null),
    loan === null ? '–' : html`<a href="${loanPath(visit, loan)}">${shortId(loan)}</a>`,
    deliveryLinks(visit, item, names),
  ];
}

/** What sets an event apart. */
function marks({ t }: Visit, { importado, apagado, ilegivel }: FeedItem): Html {
  const reported = [importado && t.events.imported, apagado && t.events.erased, ilegivel && t.events.unreadable];
  return html`${reported.map((mark) => (mark === undefined ? '' : html`${badge(mark)} `))}`;
}

function deliveryLinks({ t }: Visit, { entregas }: FeedItem, names: Names): Html {
  if (entregas.length === 0) return dim(t.loans.noDelivery);
  return html`${entregas.map(
    ({ id, status, webhook_id: webhook }) =>
      html`<div>
        ${statusBadge(t, status)}
        <a class="wrap" href="/painel/entregas/${id}">${names.get(webhook) ?? shortId(webhook)}</a>
      </div>`,
  )}`;
}

async function showEvent(visit: Visit): Promise<Page> {
  const { t, api, id } = visit;
  const [item, names] = await Promise.all([api.read<FeedItem>(`/v1/eventos/${id}`), readNames(visit)]);
  const { envelope } = item;
  return {
    title: envelope?.evento ?? t.deliveries.event,
    body: html`<dl class="facts">
        ${fact('Id', item.evento_id, 'id')} ${envelope ? fact(t.loans.at, moment(visit, envelope.timestamp)) : ''}
        ${loanFact(visit, item)}
      </dl>
      <p>${marks(visit, item)}</p>
      <div class="beside">
        <section aria-labelledby="corpo">
          <h2 id="corpo">JSON</h2>
          ${
            envelope === undefined
              ? html`<p class="dim">${item.apagado === true ? t.events.erasedHint : ''}</p>`
              : html`${copyable(t, 'json', 'JSON', JSON.stringify(envelope, null, 2))}
                  <p><a href="/docs/eventos#${envelope.evento}">${t.events.catalog}</a></p>`
          }
        </section>
        <div>
          <h2 id="entregas">${t.frame.deliveries}</h2>
          ${table(
            t.frame.deliveries,
            [t.deliveries.event, t.deliveries.status, t.deliveries.webhook],
            item.entregas.map(({ id: delivery, webhook_id: webhook, status }) => [
              html`<a href="/painel/entregas/${delivery}">${code(envelope?.evento ?? t.deliveries.delivery)}</a>`,
              statusBadge(t, status),
              html`<a class="wrap" href="/painel/webhooks/${webhook}">${names.get(webhook) ?? shortId(webhook)}</a>`,
            ]),
          )}
        </div>
      </div>`,
  };
}
