/** The attempts of all partners: searched by the API's own filters, page by page, and taken along whole. */
import { html } from 'hono/html';
import { OUTCOMES } from '../../contract/statuses.ts';
import { type AuditedAttemptResource, EXPORT_FORMATS } from '../../contract/resources/audit-lists.ts';
import { deliveredName } from '../../contract/resources/delivery-resource.ts';
import { addressOf } from '../api-client.ts';
import type { Html, Visit } from '../env.ts';
import { input, labelled, named, select } from '../frame/forms.ts';
import { type Page, refusalList } from '../frame/page.ts';
import { code, dim, moment, onward, outcomeBadge, shortId, shortUrl, table } from '../frame/parts.ts';

const PATH = '/v1/auditoria/tentativas';
const IDS = ['parceiro_id', 'emprestimo_id', 'entrega_id', 'webhook_id'] as const;
const FILTERS = [...IDS, 'evento', 'resultado', 'desde', 'ate'] as const;
type Filters = Readonly<Record<(typeof FILTERS)[number], string>>;

interface Found {
  readonly itens: readonly AuditedAttemptResource[];
  readonly proximo_cursor: string | null;
  readonly atraso_s?: number;
}

/** The API's export of what is searched for. */
export function exportPath(visit: Visit): string {
  const { formato: format } = visit.query('formato');
  const formato = EXPORT_FORMATS.find((name) => name === format) ?? 'csv';
  return addressOf(PATH, { ...visit.query(...FILTERS), formato });
}

export async function showAttempts(visit: Visit): Promise<Page> {
  const { c, t, api } = visit;
  const filters = visit.query(...FILTERS);
  const answer = await api.search<Found>(PATH, { ...filters, ...visit.query('cursor'), limite: '50' });
  return {
    title: t.frame.audit,
    status: answer.status,
    body: html`${form(visit, filters)}
      <section id="lista" aria-live="polite">
        ${answer.ok ? results(visit, answer.body, filters) : refusalList(c, answer.error)}
      </section>`,
  };
}

function form({ t }: Visit, filters: Filters): Html {
  return html`<form method="get" action="/painel/auditoria" class="grid">
    ${IDS.map((name) => input(t.auditor.ids[name], name, filters[name], html`spellcheck="false"`))}
    ${select(t.deliveries.event, 'evento', filters.evento, named(t.words.all, deliveredName.options))}
    ${select(t.webhooks.outcome, 'resultado', filters.resultado, [['', t.words.all], ...labelled(OUTCOMES, t.outcome)])}
    ${input(t.deliveries.from, 'desde', filters.desde, html`type="date"`)}
    ${input(t.deliveries.until, 'ate', filters.ate, html`type="date"`)}
    <p class="actions">
      <button class="primary">${t.words.search}</button>
      ${EXPORT_FORMATS.map((name) => html`<button formaction="/painel/auditoria/exportar" name="formato" value="${name}">${name.toUpperCase()}</button>`)}
      <span class="dim">${t.auditor.exportHint}</span>
    </p>
  </form>`;
}

function results(visit: Visit, { itens, proximo_cursor: next, atraso_s: lag = 0 }: Found, filters: Filters): Html {
  const { t } = visit;
  const behind = lag === 0 ? '' : html`<p class="dim">${t.auditor.behind(lag)}</p>`;
  const columns = [t.auditor.recorded, t.deliveries.delivery, t.webhooks.outcome, t.frame.partner, t.webhooks.url];
  const rows = itens.map((item) => row(visit, item));
  const empty = next === null ? t.auditor.empty : t.deliveries.emptyPage;
  return html`${behind} ${table(t.frame.audit, [...columns, 'Poller'], rows, { empty })}
  ${onward(next && addressOf('/painel/auditoria', { ...filters, cursor: next }), t.words.next)}`;
}

function row(visit: Visit, item: AuditedAttemptResource) {
  return [
    moment(visit, item.registrada_em),
    html`<a href="/painel/auditoria/entregas/${item.entrega_id}">${shortId(item.entrega_id)}</a>
      <div class="dim">${code(item.evento ?? '–')} ${item.numero}</div>`,
    outcomeBadge(visit.t, item.resultado, item.status_http),
    shortId(item.parceiro_id),
    html`<span class="wrap">${shortUrl(item.url)}</span>`,
    dim(item.poller),
  ];
}
