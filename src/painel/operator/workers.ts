/** Workers who are forgotten: the order, and the orders given so far. */
import { html } from 'hono/html';
import type { ErasureList, ErasureResource } from '../../contract/resources/worker-resource.ts';
import type { Refusal } from '../api-client.ts';
import type { Html, Visit } from '../env.ts';
import type { Guard } from '../frame/guard.ts';
import { answerPage } from '../frame/page.ts';
import { VERBATIM, confirmed, input } from '../frame/forms.ts';
import { doneNotice, moment, plainList } from '../frame/parts.ts';
import { refusalList, wrongField } from '../frame/refusals.ts';
import { OPERATE, reasonField } from './acts.ts';

const PATH = '/painel/operacao/apagamentos';

/** An order that was refused, as it was filled in. */
interface Tried {
  readonly form: URLSearchParams;
  readonly refusal?: Refusal;
}

const UNTRIED: Tried = { form: new URLSearchParams() };

export function addOperatorWorkers(guard: Guard): void {
  guard.show(PATH, OPERATE, (visit) => show(visit, UNTRIED));
  guard.act(PATH, OPERATE, async (visit, form) => {
    const digits = (form.get('cpf') ?? '').replaceAll(/[.\-\s]/g, '');
    const court = (form.get('ordem_judicial') ?? '').trim();
    const body = { cpf: digits, motivo: form.get('motivo') ?? '', ...(court !== '' && { ordem_judicial: court }) };
    const answer = await visit.api.send('POST', '/v1/operador/apagamentos', body);
    return answer.ok ? visit.c.redirect(`${PATH}?feito=apagado`, 303) : show(visit, { form, refusal: answer });
  });
}

async function show(visit: Visit, tried: Tried): Promise<Response> {
  const { c, t, api } = visit;
  const given = { cursor: c.req.query('depois') ?? '' };
  const { itens, proximo_cursor } = await api.read<ErasureList>('/v1/operador/apagamentos', given);
  const texts = { label: t.operator.erase, question: t.operator.eraseConfirm };
  return answerPage(c, {
    title: t.operator.erasures,
    ...(tried.refusal && { status: tried.refusal.status }),
    body: html`${tried.refusal ? refusalList(c, tried.refusal.error) : doneNotice(visit, t.operator.done)}
      <div class="actions">${confirmed(visit, PATH, texts, fields(visit, tried), tried !== UNTRIED)}</div>
      ${plainList(
        itens.map((item) => line(visit, item)),
        t.operator.noErasures,
      )}
      ${proximo_cursor === null ? '' : html`<p><a href="${PATH}?depois=${proximo_cursor}">${t.operator.more}</a></p>`}`,
  });
}

function fields(visit: Visit, { form, refusal }: Tried): Html {
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

function line(
  visit: Visit,
  { id, autor, motivo, ordem_judicial, eventos, pedido_em, concluido_em }: ErasureResource,
): Html {
  const { t } = visit;
  return html`${moment(visit, pedido_em)} ${autor}: ${motivo}
    ${ordem_judicial === null ? '' : html`<code>${ordem_judicial}</code>`} <span class="dim id">${id}</span>
    <span class="badge">${concluido_em === null ? t.deliveries.inFlight : t.operator.erasedEvents(eventos)}</span>`;
}
