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
