/** What happened to a webhook or an account, who did it and why; the newest first. */
import { html } from 'hono/html';
import type { Html, Visit } from '../env.ts';
import { moment } from '../frame/parts.ts';

interface HistoryLine {
  readonly changedAt: Date;
  readonly change: string;
  readonly actor: string;
  readonly reason: string | null;
}

export function historyPart(visit: Visit, lines: readonly HistoryLine[]): Html {
  const { t } = visit;
  return html`<h2>${t.operator.history}</h2>
    <div class="scroll fields" tabindex="0" role="region" aria-label="${t.operator.history}">
      <table>
        <thead>
          <tr>
            <th scope="col">${t.operator.change}</th>
            <th scope="col"></th>
            <th scope="col">${t.operator.author}</th>
            <th scope="col">${t.operator.reason}</th>
          </tr>
        </thead>
        <tbody>
          ${lines.map(
            ({ changedAt, change, actor, reason }) =>
              html`<tr>
                <td><code>${change}</code></td>
                <td>${moment(visit, changedAt)}</td>
                <td>${actor}</td>
                <td>${reason ?? ''}</td>
              </tr>`,
          )}
        </tbody>
      </table>
    </div>`;
}
