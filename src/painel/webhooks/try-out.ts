/** A test: the event is chosen, its example edited within its fields, and what the receiver answered is the delivery's page. */
import { html } from 'hono/html';
import { TEST_NAME } from '../../contract/delivery.ts';
import { EVENT_EXAMPLES } from '../../contract/event-examples.ts';
import { SUBSCRIBABLE_NAMES, type SubscribableName } from '../../contract/events.ts';
import type { DeliveryWithAttempts } from '../../contract/resources/delivery-resource.ts';
import type { WebhookResource } from '../../contract/resources/webhook.ts';
import { type Refusal, Refused } from '../api-client.ts';
import type { Html, Visit } from '../env.ts';
import { fieldTable } from '../events/parts.ts';
import { answerPage } from '../frame/page.ts';
import { formToken, named, select } from '../frame/forms.ts';
import { notice } from '../frame/parts.ts';
import { refusalList } from '../frame/refusals.ts';
import { pathId } from '../address.ts';

export async function sendTest(visit: Visit, form: URLSearchParams): Promise<Response> {
  const [event, written] = [form.get('evento') ?? '', form.get('data')?.trim() ?? ''];
  const data = written === '' ? undefined : parsed(written);
  if (data === null) return showTest(visit, event, { written });
  const wanted = event === '' ? undefined : { evento: event, data };
  const path = `/v1/webhooks/${pathId(visit.c)}/teste`;
  const answer = await visit.api.send<DeliveryWithAttempts>('POST', path, wanted);
  if (answer.ok) return visit.c.redirect(`/painel/entregas/${answer.body.id}`, 303);
  if (answer.status !== 400 && answer.status !== 409) throw new Refused(answer);
  return showTest(visit, event, { written, refusal: answer });
}

/** Null: it is no JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

interface Shown {
  /** What was sent and not taken: by its `refusal`, or else because it is no JSON. */
  readonly written?: string;
  readonly refusal?: Refusal;
}

export async function showTest(visit: Visit, given: string, { written, refusal }: Shown): Promise<Response> {
  const { c, t, api } = visit;
  const path = `/painel/webhooks/${pathId(c)}`;
  const webhook = await api.read<WebhookResource>(`/v1/webhooks/${pathId(c)}`);
  const event = SUBSCRIBABLE_NAMES.find((name) => name === given);
  const isWrong = written !== undefined;
  return answerPage(c, {
    title: t.webhooks.test,
    status: refusal?.status ?? (isWrong ? 400 : 200),
    body: html`<p class="wrap"><a href="${path}">${webhook.url}</a></p>
      ${refusal !== undefined ? refusalList(c, refusal.error) : isWrong ? notice('failed', t.webhooks.noJson) : ''}
      <p>${t.webhooks.testHint}</p>
      <form class="inline" method="get" action="${path}/teste">
        ${select(t.webhooks.testEvent, 'evento', named(event ?? '', TEST_NAME, namesFor(webhook)), html`data-submits`)}
        <noscript><button>${t.frame.apply}</button></noscript>
      </form>
      <form class="stack" method="post" action="${path}/teste">
        ${formToken(visit)} <input type="hidden" name="evento" value="${event ?? ''}" />
        ${event === undefined ? '' : dataField(visit, event, written)}
        <p class="actions">
          <button class="primary">${t.webhooks.test}</button>
          <a class="button" href="${path}">${t.words.cancel}</a>
        </p>
      </form>
      ${event === undefined ? '' : fieldTable(visit, event)}`,
  });
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

/** The webhook's own events first: a test of another one is sent, too. */
function namesFor({ eventos }: WebhookResource): readonly string[] {
  return [...new Set<string>([...eventos, ...SUBSCRIBABLE_NAMES])];
}
