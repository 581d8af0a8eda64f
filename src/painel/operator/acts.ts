/** What the operator's pages share: the call that changes something, its reason, and the history of such acts. */
import { html } from 'hono/html';
import { MAX_LINE, type ShownPartner, type ShownWebhook } from '../../contract/resources/operator.ts';
import { Refused } from '../api-client.ts';
import type { Html, Visit } from '../env.ts';
import { input } from '../frame/forms.ts';
import { moment, table } from '../frame/parts.ts';

export const OPERATE = { reader: 'operator', scope: 'operador' } as const;

/** Does it, and leads back to `page` with what was done; throws the API's refusal. */
export async function order(
  { c, api }: Visit,
  [method, path, body]: readonly [method: 'POST' | 'PUT', path: string, body: object],
  page: string,
  done: string,
): Promise<Response> {
  const answer = await api.send(method, path, body);
  if (!answer.ok) throw new Refused(answer);
  return c.redirect(`${page}?feito=${done}`, 303);
}

export function reasonField({ t }: Visit, reason = ''): Html {
  return html`<p>
    ${input(t.operator.reason, 'motivo', reason, html`size="40" maxlength="${MAX_LINE}" autocomplete="off" required`)}
    <span class="dim">${t.operator.reasonHint}</span>
  </p>`;
}

/** What happened to a webhook or an account, newest first. `path`: the page's own, to which the lines before these lead. */
export function historyPart(
  visit: Visit,
  { historico, proximo_cursor }: ShownPartner | ShownWebhook,
  path: string,
): Html {
  const { t } = visit;
  return html`<h2>${t.operator.history}</h2>
    ${table(
      t.operator.history,
      [t.loans.at, t.operator.change, t.operator.author, t.operator.reason],
      historico.map(({ mudou_em, mudanca, autor, motivo }) => [
        moment(visit, mudou_em),
        html`<code>${mudanca}</code>`,
        autor,
        motivo ?? '',
      ]),
      'fields',
    )}
    ${proximo_cursor === null ? '' : html`<p><a href="${path}?antes=${proximo_cursor}">${t.operator.older}</a></p>`}`;
}
