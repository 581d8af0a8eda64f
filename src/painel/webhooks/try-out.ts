/** A test: choose an event, edit its example within its fields, and see the receiver's answer on the delivery's page. */
import { html } from 'hono/html';
import { TEST_NAME } from '../../contract/delivery.ts';
import { EVENT_EXAMPLES } from '../../contract/event-examples.ts';
import { SUBSCRIBABLE_NAMES, type SubscribableName } from '../../contract/events.ts';
import type { DeliveryWithAttempts } from '../../contract/resources/delivery-resource.ts';
import type { WebhookResource } from '../../contract/resources/webhook.ts';
import { type Refusal, Refused } from '../api-client.ts';
import type { Html, Visit } from '../env.ts';
import { fieldTable } from '../events/parts.ts';
import { doOrLeave, hidden, named, postForm, select } from '../frame/forms.ts';
import type { Page } from '../frame/page.ts';
import { notice } from '../frame/parts.ts';

export async function sendTest(visit: Visit, form: URLSearchParams): Promise<Page | Response> {
  const [event, written] = [form.get('evento') ?? '', form.get('data')?.trim() ?? ''];
  const data = written === '' ? undefined : parsed(written);
  if (data === null) return showTest(visit, event, written);
  const wanted = event === '' ? undefined : { evento: event, data };
  const answer = await visit.api.send<DeliveryWithAttempts>('POST', `/v1/webhooks/${visit.id}/teste`, wanted);
  if (answer.ok) return visit.c.redirect(`/painel/entregas/${answer.body.id}`, 303);
  if (answer.status !== 400 && answer.status !== 409) throw new Refused(answer);
  return showTest(visit, event, written, answer);
}

/** Null: it is no JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** `written`: the text that was refused; without a `refusal` because it is no JSON. */
export async function showTest(visit: Visit, given: string, written?: string, refusal?: Refusal): Promise<Page> {
  const { t, api, id } = visit;
  const path = `/painel/webhooks/${id}`;
  const webhook = await api.read<WebhookResource>(`/v1/webhooks/${id}`);
  const event = SUBSCRIBABLE_NAMES.find((name) => name === given);
  const isNoJson = written !== undefined && refusal === undefined;
  // The webhook's own events first: a test of another one is sent, too.
  const names = [...new Set<string>([...webhook.eventos, ...SUBSCRIBABLE_NAMES])];
  return {
    title: t.webhooks.test,
    refusal,
    ...(isNoJson && { status: 400 }),
    body: html`<p class="wrap"><a href="${path}">${webhook.url}</a></p>
      ${isNoJson && notice('failed', t.webhooks.noJson)}
      <p>${t.webhooks.testHint}</p>
      <form class="inline" method="get" action="${path}/teste">
        ${select(t.webhooks.testEvent, 'evento', event ?? '', named(TEST_NAME, names), html`data-submits`)}
        <noscript><button>${t.frame.apply}</button></noscript>
      </form>
      ${postForm(
        visit,
        `${path}/teste`,
        html`${hidden('evento', event ?? '')} ${event && dataField(visit, event, written)}
        ${doOrLeave(visit, t.webhooks.test, path)}`,
        'stack',
      )}
      ${event && fieldTable(visit, event)}`,
  };
}

function dataField({ t }: Visit, event: SubscribableName, written: string | undefined): Html {
  const text = written ?? JSON.stringify(EVENT_EXAMPLES[event], null, 2);
  const rows = Math.min(text.split('\n').length + 1, 24);
  return html`<label for="data"><code>data</code></label>
    <p id="data-hint" class="dim">${t.webhooks.dataHint}</p>
    <textarea
      id="data"
      name="data"
      rows="${rows}"
      spellcheck="false"
      aria-describedby="data-hint"
      ${written === undefined ? '' : html`aria-invalid="true"`}
    >
${text}</textarea>`;
}
