/** Recovery: what failed of a webhook is counted, then sent again. Until it is through, the page sends its form again by itself. */
import { html } from 'hono/html';
import type { z } from 'zod';
import { SUBSCRIBABLE_NAMES } from '../../contract/events.ts';
import type { resendResult } from '../../contract/resources/delivery-resource.ts';
import type { WebhookResource } from '../../contract/resources/webhook.ts';
import { DELIVERY_STATUSES } from '../../contract/statuses.ts';
import { type Answer, Refused } from '../api-client.ts';
import type { Html, Visit } from '../env.ts';
import { instantOf, localTime } from '../frame/clock.ts';
import { answerPage } from '../frame/page.ts';
import { formToken, input, named, select, tick } from '../frame/forms.ts';
import { notice } from '../frame/parts.ts';
import { refusalList, wrongField } from '../frame/refusals.ts';
import { pathId } from '../address.ts';

const FAILED = ['erro', 'suspensa'];
const DAY_MS = 86_400_000;
type Resent = z.infer<typeof resendResult>;

/** The form; once it was sent, with the count of what it asks for. */
export async function showRecovery(visit: Visit): Promise<Response> {
  const { c, t, api } = visit;
  const id = pathId(c);
  const asked = new URL(c.req.url).searchParams;
  const webhook = await api.read<WebhookResource>(`/v1/webhooks/${id}`);
  const counted = asked.has('contar') ? await resend(visit, asked, true) : null;
  if (counted?.ok === false && counted.status !== 400) throw new Refused(counted);
  return answerPage(c, {
    title: t.recovery.title,
    status: counted?.ok === false ? 400 : 200,
    body: html`<p class="wrap"><a href="/painel/webhooks/${id}">${webhook.url}</a></p>
      <p>${t.recovery.intro}</p>
      ${counted?.ok === false ? refusalList(c, counted.error) : ''} ${form(visit, asked, counted)}
      ${counted?.ok === true ? confirmation(visit, asked, counted.body, webhook) : ''}`,
  });
}

/** One request of the work: done, refused, or on with the next. */
export async function goOn(visit: Visit, given: URLSearchParams): Promise<Response> {
  const { c, t } = visit;
  const answer = await resend(visit, given, false);
  const path = `/painel/webhooks/${pathId(c)}`;
  if (!answer.ok) {
    if (answer.status !== 409) throw new Refused(answer);
    return answerPage(c, { title: t.recovery.title, status: 409, body: refusalList(c, answer.error) });
  }
  const sent = Number(given.get('enviadas') ?? '0') + answer.body.entregas;
  const { proximo_cursor: cursor } = answer.body;
  if (cursor === null) return c.redirect(`${path}?feito=recuperado&entregas=${sent}`, 303);
  const total = Number(given.get('total') ?? '0');
  const next = new URLSearchParams(given);
  for (const [name, value] of Object.entries({ cursor, enviadas: String(sent) })) next.set(name, value);
  return answerPage(c, {
    title: t.recovery.title,
    body: html`<form method="post" action="${path}/recuperar" data-goes-on class="stack narrow" role="status">
      ${formToken(visit)} ${hidden(next)}
      <label for="feitas">${t.recovery.progress(sent, total)}</label>
      <progress id="feitas" value="${sent}" max="${Math.max(total, sent)}"></progress>
      <button class="primary">${t.words.goOn}</button>
    </form>`,
  });
}

function resend({ api, c }: Visit, asked: URLSearchParams, simular: boolean): Promise<Answer<Resent>> {
  const [until, event, cursor] = ['ate', 'evento', 'cursor'].map((name) => asked.get(name)?.trim() ?? '');
  const statuses = asked.getAll('status');
  return api.send<Resent>('POST', `/v1/webhooks/${pathId(c)}/reenvios`, {
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
  const since = given.endsWith('Z')
    ? localTime(c.var.zone, Date.parse(given))
    : given || localTime(c.var.zone, Date.now() - DAY_MS);
  return html`<form class="grid" method="get">
    ${input(t.deliveries.from, 'desde', since, html`type="datetime-local" required ${wrong('desde')}`)}
    ${input(t.deliveries.until, 'ate', asked.get('ate') ?? '', html`type="datetime-local" ${wrong('ate')}`)}
    ${select(t.deliveries.event, 'evento', named(asked.get('evento') ?? '', t.words.all, SUBSCRIBABLE_NAMES))}
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
  return html`<form class="card" method="post" action="/painel/webhooks/${id}/recuperar">
    ${formToken(visit)} ${hidden(asked)} <input type="hidden" name="total" value="${count}" />
    <p role="status">${found}</p>
    <p class="dim">${t.recovery.what}</p>
    <button class="primary">${t.recovery.send}</button>
  </form>`;
}

const CARRIED = new Set(['desde', 'ate', 'evento', 'status', 'cursor', 'total', 'enviadas']);

/** The fields that the next request needs again. */
function hidden(fields: URLSearchParams): Html {
  const carried = [...fields].filter(([name, value]) => CARRIED.has(name) && value !== '');
  return html`${carried.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`)}`;
}
