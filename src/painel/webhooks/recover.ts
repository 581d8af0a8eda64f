/** Recovery: counts a webhook's failed deliveries, then sends them again. A script submits the next request until none is left. */
import { html } from 'hono/html';
import type { z } from 'zod';
import { SUBSCRIBABLE_NAMES } from '../../contract/events.ts';
import type { resendResult } from '../../contract/resources/delivery-resource.ts';
import type { WebhookResource } from '../../contract/resources/webhook.ts';
import { DELIVERY_STATUSES } from '../../contract/statuses.ts';
import { type Answer, Refused } from '../api-client.ts';
import type { Html, Visit } from '../env.ts';
import { instantOf, localTime } from '../frame/clock.ts';
import { hidden, input, named, postForm, select, tick } from '../frame/forms.ts';
import { type Page, wrongField } from '../frame/page.ts';
import { notice } from '../frame/parts.ts';

const FAILED = ['erro', 'suspensa'];
const DAY_MS = 86_400_000;
type Resent = z.infer<typeof resendResult>;

/** The form; once it was sent, with the count of what it asks for. */
export async function showRecovery(visit: Visit): Promise<Page> {
  const { c, t, api, id } = visit;
  const asked = new URL(c.req.url).searchParams;
  const webhook = await api.read<WebhookResource>(`/v1/webhooks/${id}`);
  const counted = asked.has('contar') ? await resend(visit, asked, true) : null;
  if (counted?.ok === false && counted.status !== 400) throw new Refused(counted);
  return {
    title: t.recovery.title,
    refusal: counted?.ok === false ? counted : undefined,
    body: html`<p class="wrap"><a href="/painel/webhooks/${id}">${webhook.url}</a></p>
      <p>${t.recovery.intro}</p>
      ${form(visit, asked, counted)} ${counted?.ok === true ? confirmation(visit, asked, counted.body, webhook) : ''}`,
  };
}

/** One request of the work: done, refused, or on with the next. */
export async function goOn(visit: Visit, given: URLSearchParams): Promise<Page | Response> {
  const { c, t, id } = visit;
  const answer = await resend(visit, given, false);
  const path = `/painel/webhooks/${id}`;
  if (!answer.ok) throw new Refused(answer);
  const sent = Number(given.get('enviadas') ?? '0') + answer.body.entregas;
  const { proximo_cursor: cursor } = answer.body;
  if (cursor === null) return c.redirect(`${path}?feito=recuperado&entregas=${sent}`, 303);
  const total = Number(given.get('total') ?? '0');
  const next = new URLSearchParams(given);
  for (const [name, value] of Object.entries({ cursor, enviadas: String(sent) })) next.set(name, value);
  const fields = html`${carried(next)} <label for="feitas">${t.recovery.progress(sent, total)}</label>
    <progress id="feitas" value="${sent}" max="${Math.max(total, sent)}"></progress>
    <button class="primary">${t.words.goOn}</button>`;
  return {
    title: t.recovery.title,
    body: html`<div role="status" data-goes-on>${postForm(visit, `${path}/recuperar`, fields, 'stack narrow')}</div>`,
  };
}

function resend({ api, c, id }: Visit, asked: URLSearchParams, simular: boolean): Promise<Answer<Resent>> {
  const [until, event, cursor] = ['ate', 'evento', 'cursor'].map((name) => asked.get(name)?.trim() ?? '');
  const statuses = asked.getAll('status');
  return api.send<Resent>('POST', `/v1/webhooks/${id}/reenvios`, {
    desde: instantOf(c.var.zone, asked.get('desde')?.trim() ?? ''),
    ...(until && { ate: instantOf(c.var.zone, until) }),
    ...(statuses.length > 0 && { status: statuses }),
    ...(event && { eventos: [event] }),
    ...(cursor && { cursor }),
    simular,
  });
}

function form({ c, t }: Visit, asked: URLSearchParams, counted: Answer<Resent> | null): Html {
  const wrong = (field: string) => (counted?.ok === false ? wrongField(counted, field) : '');
  const statuses = asked.has('status') ? asked.getAll('status') : FAILED;
  const given = asked.get('desde') ?? '';
  // A link brings an instant, the form local time; the minute before it, which the form has no seconds of.
  const instant = given.endsWith('Z') ? Date.parse(given) : Number.NaN;
  const since = Number.isFinite(instant)
    ? localTime(c.var.zone, instant)
    : given || localTime(c.var.zone, Date.now() - DAY_MS);
  return html`<form class="grid" method="get">
    ${input(t.deliveries.from, 'desde', since, html`type="datetime-local" required ${wrong('desde')}`)}
    ${input(t.deliveries.until, 'ate', asked.get('ate') ?? '', html`type="datetime-local" ${wrong('ate')}`)}
    ${select(t.deliveries.event, 'evento', asked.get('evento') ?? '', named(t.words.all, SUBSCRIBABLE_NAMES))}
    <fieldset>
      <legend>${t.deliveries.status}</legend>
      ${DELIVERY_STATUSES.map((status) => tick(t.status[status], 'status', status, statuses.includes(status)))}
    </fieldset>
    <p class="actions">
      <button name="contar" value="sim" ${counted === null ? html`class="primary"` : ''}>${t.recovery.count}</button>
    </p>
  </form>`;
}

function confirmation(visit: Visit, asked: URLSearchParams, counted: Resent, { id, ativo }: WebhookResource): Html {
  const { t } = visit;
  const { entregas: count, em_andamento: inFlight, proximo_cursor } = counted;
  const found = t.recovery.found(`${count}${proximo_cursor === null ? '' : '+'}`, inFlight);
  if (!ativo)
    return html`${notice('failed', t.recovery.inactive)}
      <p>${found}</p>`;
  if (count === 0 && proximo_cursor === null) return html`<p role="status">${found}</p>`;
  const fields = html`${carried(asked)} ${hidden('total', String(count))}
    <p role="status">${found}</p>
    <p class="dim">${t.recovery.what}</p>
    <button class="primary">${t.recovery.send}</button>`;
  return postForm(visit, `/painel/webhooks/${id}/recuperar`, fields, 'card');
}

const CARRIED = new Set(['desde', 'ate', 'evento', 'status', 'cursor', 'total', 'enviadas']);

/** The fields that the next request needs again. */
function carried(fields: URLSearchParams): Html {
  return html`${[...fields].map(([name, value]) => CARRIED.has(name) && value !== '' && hidden(name, value))}`;
}
