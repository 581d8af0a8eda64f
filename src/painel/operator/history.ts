/** What happened to a webhook or an account, who did it and why; the newest first. */
import { html } from 'hono/html';
import type { ShownPartner, ShownWebhook } from '../../contract/resources/operator.ts';
import type { Html, Visit } from '../env.ts';
import { moment, table } from '../frame/parts.ts';

/** `path` is the page's own, to which the lines before these lead. */
export function historyPart(
  visit: Visit,
  { historico, proximo_cursor }: ShownPartner | ShownWebhook,
  path: string,
): Html {
  const { t } = visit;
  return html`<h2>${t.operator.history}</h2>
    ${table(
      t.operator.history,
      [t.operator.change, '', t.operator.author, t.operator.reason],
      historico.map(
        ({ mudou_em, mudanca, autor, motivo }) =>
          html`<tr>
            <td><code>${mudanca}</code></td>
            <td>${moment(visit, mudou_em)}</td>
            <td>${autor}</td>
            <td>${motivo ?? ''}</td>
          </tr>`,
      ),
      'fields',
    )}
    ${proximo_cursor === null ? '' : html`<p><a href="${path}?antes=${proximo_cursor}">${t.operator.older}</a></p>`}`;
}
