/** What the operator's pages share of changing something: who did it, why, and how a refusal is told. */
import { html } from 'hono/html';
import type { Refused } from '../../contract/refusals.ts';
import { ApiError } from '../../http/api-error.ts';
import { refusalError } from '../../http/refusals.ts';
import { actorOf, MAX_LINE, readLine } from '../../steering/author.ts';
import type { Operator } from '../../webhooks/muting.ts';
import type { Html, Visit } from '../env.ts';

export const OPERATE = { reader: 'operator', scope: 'operador' } as const;

/** 400 that names the field and its rule. */
export function invalid(campo: string, mensagem: string): ApiError {
  return new ApiError('ERRO_VALIDACAO', 'a requisição tem dados inválidos', { details: [{ campo, mensagem }] });
}

/** The operator and the reason that the form gives; throws 400 without one, unless it is optional and left empty. */
export function readOperator(
  { session, t }: Visit,
  form: URLSearchParams,
  need: 'required' | 'optional' = 'required',
): Operator {
  const text = form.get('motivo') ?? '';
  const reason = readLine(text);
  if (reason === null && !(need === 'optional' && text === '')) throw invalid('motivo', t.operator.reasonRule);
  return { actor: actorOf(session.identity.actor), reason };
}

/** What `result` holds; throws its refusal. */
export function granted<T>(result: { readonly ok: T } | Refused): T {
  if ('refused' in result) throw refusalError(result.refused);
  return result.ok;
}

export function reasonField({ t }: Visit): Html {
  return html`<p>
    <label
      >${t.operator.reason} <input name="motivo" size="40" maxlength="${MAX_LINE}" autocomplete="off" required
    /></label>
    <span class="dim">${t.operator.reasonHint}</span>
  </p>`;
}
