/** The one page that shows a secret, right after it was made. */
import { html } from 'hono/html';
import type { Visit } from '../env.ts';
import { answerPage } from '../frame/page.ts';
import { copyable, moment, notice } from '../frame/parts.ts';

interface Made {
  readonly id: string;
  /** Absent when the form was sent again later. */
  readonly secret?: string | undefined;
  readonly vale_em?: string;
  readonly anterior_ate?: string;
}

export async function showSecret(
  visit: Visit,
  { id, secret, vale_em: from, anterior_ate: until }: Made,
): Promise<Response> {
  const { c, t } = visit;
  return answerPage(c, {
    title: t.webhooks.secretTitle,
    body: html`${
        secret === undefined
          ? notice('failed', t.webhooks.secretGone)
          : html`<p>${t.webhooks.secretOnce}</p>
              ${copyable(t, 'secret', t.webhooks.secretTitle, secret)}`
      }
      ${from === undefined ? '' : html`<p>${t.webhooks.signsFrom} ${moment(visit, from)}</p>`}
      ${until === undefined ? '' : html`<p>${t.webhooks.previousUntil} ${moment(visit, until)}</p>`}
      <p><a class="button" href="/painel/webhooks/${id}">${t.webhooks.toWebhook}</a></p>`,
  });
}
