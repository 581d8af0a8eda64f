/** The erasure of workers: the form that orders one, and the orders so far. */
import { html } from 'hono/html';
import type { ErasureList, ErasureResource } from '../../contract/resources/worker-resource.ts';
import { addressOf, type Refusal } from '../api-client.ts';
import type { Html, Visit } from '../env.ts';
import { confirmed, input, VERBATIM } from '../frame/forms.ts';
import { type Guard, settle } from '../frame/guard.ts';
import { OPERATE } from '../frame/nav.ts';
import { type Page, wrongField } from '../frame/page.ts';
import { badge, live, moment, onward, shortId, table } from '../frame/parts.ts';
import { reasonField } from './accounts.ts';

const PATH = '/painel/operacao/apagamentos';
const EVERY_S = 2;

export function addOperatorWorkers(guard: Guard): void {
  guard.show(PATH, OPERATE, (visit) => show(visit));
  guard.act(PATH, OPERATE, async (visit, form) => {
    const digits = (form.get('cpf') ?? '').replaceAll(/[.\-\s]/g, '');
    const court = (form.get('ordem_judicial') ?? '').trim();
    const body = { cpf: digits, motivo: form.get('motivo') ?? '', ...(court !== '' && { ordem_judicial: court }) };
    const answer = await visit.api.send('POST', '/v1/operador/apagamentos', body);
    return settle(visit, answer, PATH, 'apagado', (refusal) => show(visit, form, refusal));
  });
}

/** `form`: what was written, and refused. */
async function show(visit: Visit, form = new URLSearchParams(), refusal?: Refusal): Promise<Page> {
  const { t, api } = visit;
  const { depois } = visit.query('depois');
  const { itens, proximo_cursor: next } = await api.read<ErasureList>('/v1/operador/apagamentos', { cursor: depois });
  const { erase, eraseConfirm, erasures, more, done } = t.operator;
  const question = confirmed(visit, PATH, erase, eraseConfirm, fields(visit, form, refusal), refusal !== undefined);
  return {
    title: erasures,
    refusal,
    done,
    body: html`<div class="actions">${question}</div>
      ${live('pedidos', addressOf(PATH, { depois }), EVERY_S, orders(visit, itens))}
      ${onward(next && addressOf(PATH, { depois: next }), more)}`,
  };
}

function fields(visit: Visit, form: URLSearchParams, refusal: Refusal | undefined): Html {
  const { t } = visit;
  const field = (label: string, name: string, attributes: Html) =>
    input(label, name, form.get(name) ?? '', html`${attributes} ${wrongField(refusal, name)}`);
  return html`<p>${field('CPF', 'cpf', html`size="14" inputmode="numeric" ${VERBATIM} required`)}</p>
    ${reasonField(visit, form.get('motivo') ?? '')}
    <p>
      ${field(t.operator.courtOrder, 'ordem_judicial', html`size="30" maxlength="40" autocomplete="off"`)}
      <span class="dim">${t.operator.courtOrderHint}</span>
    </p>`;
}

function orders(visit: Visit, itens: ErasureList['itens']): Html {
  const { operator: words, loans } = visit.t;
  return table(
    words.erasures,
    ['Id', loans.at, words.author, words.reason, words.courtOrder, words.state],
    itens.map((item) => [
      shortId(item.id),
      moment(visit, item.pedido_em),
      item.autor,
      item.motivo,
      item.ordem_judicial ?? '–',
      standing(visit, item),
    ]),
    { empty: words.noErasures },
  );
}

function standing(visit: Visit, { eventos, concluido_em: done }: ErasureResource): Html {
  const { t } = visit;
  if (done === null) return badge(t.deliveries.inFlight);
  return html`${badge(t.operator.erasedEvents(eventos), 'entregue')} ${moment(visit, done)}`;
}
