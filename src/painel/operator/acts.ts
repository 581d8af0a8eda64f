/** What the operator's pages share of changing something: the call of the API, and the reason that it takes. */
import { html } from 'hono/html';
import { MAX_LINE } from '../../contract/resources/operator.ts';
import { Refused } from '../api-client.ts';
import type { Html, Visit } from '../env.ts';
import { input } from '../frame/forms.ts';

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
