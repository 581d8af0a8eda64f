/** What happened to a webhook or an account, who did it and why; the newest first. */
import { html } from 'hono/html';
import { id as uuid } from '../../contract/values.ts';
import type { Html, Visit } from '../env.ts';
import { moment, table } from '../frame/parts.ts';

interface HistoryLine {
  readonly changedAt: Date;
  readonly change: string;
  readonly actor: string;
  readonly reason: string | null;
}

/** `older` is the address of the lines before these; null: there are none. */
export function historyPart(visit: Visit, lines: readonly HistoryLine[], older: string | null): Html {
  const { t } = visit;
  return html`<h2>${t.operator.history}</h2>
    ${table(
      t.operator.history,
      [t.operator.change, '', t.operator.author, t.operator.reason],
      lines.map(
        ({ changedAt, change, actor, reason }) =>
          html`<tr>
            <td><code>${change}</code></td>
            <td>${moment(visit, changedAt)}</td>
            <td>${actor}</td>
            <td>${reason ?? ''}</td>
          </tr>`,
      ),
      'fields',
    )}
    ${older === null ? '' : html`<p><a href="${older}">${t.operator.older}</a></p>`}`;
}

/** The line of a history before which the address asks for older ones; null: from the newest on. */
export function lineAsked({ c }: Visit): string | null {
  const before = c.req.query('antes') ?? '';
  return /^[1-9]\d{0,17}$/.test(before) ? before : null;
}

/** The entry of a list after which the address asks for more; null: from the first on. */
export function entryAsked({ c }: Visit): string | null {
  const after = uuid.safeParse(c.req.query('depois'));
  return after.success ? after.data : null;
}
