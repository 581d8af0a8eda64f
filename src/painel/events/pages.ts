/** The feed: what happened, in the order of commits, each event with its body beside its deliveries. */
import { html } from 'hono/html';
import { SUBSCRIBABLE_NAMES } from '../../contract/events.ts';
import type { FeedItem } from '../../contract/resources/delivery-resource.ts';
import { addressOf, Refused } from '../api-client.ts';
import type { Html, Visit } from '../env.ts';
import { instantOf, localTime } from '../frame/clock.ts';
import type { Guard } from '../frame/guard.ts';
import { READ } from '../frame/nav.ts';
import { answerPage } from '../frame/page.ts';
import { input, named, select, tick } from '../frame/forms.ts';
import { copyable, fact, loanPath, moment, onward, shortId, statusBadge, table } from '../frame/parts.ts';
import { refusalList } from '../frame/refusals.ts';
import { fieldsOf, pathId } from '../address.ts';
import { readNames } from '../webhooks/names.ts';

type Names = ReadonlyMap<string, string>;

const PATH = '/painel/eventos';
const LIMIT = '50';
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

async function showFeed(visit: Visit): Promise<Response> {
  const { c, t, api } = visit;
  const { desde, depois, ...filter } = fieldsOf(c, ['desde', 'depois', 'evento', 'historico']);
  const since = desde || localTime(c.var.zone, Date.now() - DAY_MS);
  const asked = { ...filter, desde: instantOf(c.var.zone, since), depois, limite: LIMIT };
  const [answer, names] = await Promise.all([api.ask<FeedPage>('/v1/eventos', asked), readNames(visit)]);
  if (!answer.ok && answer.status !== 400) throw new Refused(answer);
  return answerPage(c, {
    title: t.frame.events,
    status: answer.ok ? 200 : 400,
    body: html`<p>${t.events.intro} <a href="/docs/eventos">${t.events.catalog}</a></p>
      ${form(visit, since, filter)}
      ${answer.ok ? results(visit, answer.body, names, { ...filter, desde: since }) : refusalList(c, answer.error)}`,
  });
}

function form({ t }: Visit, since: string, { evento, historico }: Readonly<Record<string, string>>): Html {
  return html`<form class="inline" method="get" action="${PATH}">
    ${input(t.deliveries.from, 'desde', since, html`type="datetime-local"`)}
    ${select(t.deliveries.event, 'evento', named(evento ?? '', t.words.all, SUBSCRIBABLE_NAMES))}
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
        <summary>${day} <span class="dim">${t.events.count(events.length)}</span></summary>
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
  const told = [importado && t.events.imported, apagado && t.events.erased, ilegivel && t.events.unreadable];
  return html`${told.map((mark) => (mark === undefined ? '' : html`<span class="badge">${mark}</span> `))}`;
}

function deliveryLinks({ t }: Visit, { entregas }: FeedItem, names: Names): Html {
  if (entregas.length === 0) return html`<span class="dim">${t.loans.noDelivery}</span>`;
  return html`${entregas.map(
    ({ id, status, webhook_id: webhook }) =>
      html`<div>
        ${statusBadge(t, status)}
        <a class="wrap" href="/painel/entregas/${id}">${names.get(webhook) ?? shortId(webhook)}</a>
      </div>`,
  )}`;
}

async function showEvent(visit: Visit): Promise<Response> {
  const { c, t, api } = visit;
  const [item, names] = await Promise.all([api.read<FeedItem>(`/v1/eventos/${pathId(c)}`), readNames(visit)]);
  const { envelope, emprestimo_id: loan, versao_emprestimo: version } = item;
  return answerPage(c, {
    title: envelope?.evento ?? t.deliveries.event,
    body: html`<dl class="facts">
        ${fact('Id', item.evento_id, 'id')} ${envelope ? fact(t.loans.at, moment(visit, envelope.timestamp)) : ''}
        ${loan === null ? '' : fact(t.deliveries.loan, html`<a class="id" href="${loanPath(visit, loan)}">${loan}</a>${version === null ? '' : ` ${t.delivery.version(version)}`}`)}
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
            item.entregas.map(({ id, webhook_id: webhook, status }) => [
              html`<a href="/painel/entregas/${id}"><code>${envelope?.evento ?? t.deliveries.delivery}</code></a>`,
              statusBadge(t, status),
              html`<a class="wrap" href="/painel/webhooks/${webhook}">${names.get(webhook) ?? shortId(webhook)}</a>`,
            ]),
          )}
        </div>
      </div>`,
  });
}
