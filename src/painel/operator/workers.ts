/** Workers who are forgotten: the order, and the orders given so far. */
import { html } from 'hono/html';
import type { ErasureList, ErasureResource } from '../../contract/resources/worker-resource.ts';
import { addressOf, type Refusal } from '../api-client.ts';
import type { Html, Visit } from '../env.ts';
import type { Guard } from '../frame/guard.ts';
import { answerPage } from '../frame/page.ts';
import { VERBATIM, confirmed, input } from '../frame/forms.ts';
import { doneNotice, moment, shortId, table } from '../frame/parts.ts';
import { refusalList, wrongField } from '../frame/refusals.ts';
import type { Streams } from '../live.ts';
import { OPERATE, reasonField } from './acts.ts';

const PATH = '/painel/operacao/apagamentos';
const EVERY_MS = 2_000;

interface Tried {
  readonly form: URLSearchParams;
  readonly refusal?: Refusal;
}

const UNTRIED: Tried = { form: new URLSearchParams() };

export function addOperatorWorkers(guard: Guard, streams: Streams): void {
  guard.show(PATH, OPERATE, (visit) => show(visit, UNTRIED));
  guard.show(`${PATH}/ao-vivo`, OPERATE, (visit) =>
    streams.open(visit, EVERY_MS, async () => [
      { event: 'pedidos', data: String(await orders(visit, await read(visit))) },
    ]),
  );
  guard.act(PATH, OPERATE, async (visit, form) => {
    const digits = (form.get('cpf') ?? '').replaceAll(/[.\-\s]/g, '');
    const court = (form.get('ordem_judicial') ?? '').trim();
    const body = { cpf: digits, motivo: form.get('motivo') ?? '', ...(court !== '' && { ordem_judicial: court }) };
    const answer = await visit.api.send('POST', '/v1/operador/apagamentos', body);
    return answer.ok ? visit.c.redirect(`${PATH}?feito=apagado`, 303) : show(visit, { form, refusal: answer });
  });
}

function read({ c, api }: Visit): Promise<ErasureList> {
  return api.read<ErasureList>('/v1/operador/apagamentos', { cursor: c.req.query('depois') ?? '' });
}

async function show(visit: Visit, tried: Tried): Promise<Response> {
  const { c, t } = visit;
  const found = await read(visit);
  const texts = { label: t.operator.erase, question: t.operator.eraseConfirm };
  return answerPage(c, {
    title: t.operator.erasures,
    ...(tried.refusal && { status: tried.refusal.status }),
    body: html`${tried.refusal ? refusalList(c, tried.refusal.error) : doneNotice(visit, t.operator.done)}
      <div class="actions">${confirmed(visit, PATH, texts, fields(visit, tried), tried !== UNTRIED)}</div>
      <div data-live="${addressOf(`${PATH}/ao-vivo`, { depois: c.req.query('depois') ?? '' })}">
        <div data-part="pedidos">${orders(visit, found)}</div>
      </div>
      ${found.proximo_cursor === null ? '' : html`<p><a href="${addressOf(PATH, { depois: found.proximo_cursor })}">${t.operator.more}</a></p>`}`,
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

function orders(visit: Visit, { itens }: ErasureList): Html {
  const { t } = visit;
  if (itens.length === 0) return html`<p>${t.operator.noErasures}</p>`;
  return table(
    t.operator.erasures,
    ['Id', t.loans.at, t.operator.author, t.operator.reason, t.operator.courtOrder, t.operator.state],
    itens.map((item) => [
      html`<span class="id" title="${item.id}">${shortId(item.id)}</span>`,
      moment(visit, item.pedido_em),
      item.autor,
      item.motivo,
      item.ordem_judicial ?? '–',
      standing(visit, item),
    ]),
  );
}

function standing(visit: Visit, { eventos, concluido_em }: ErasureResource): Html {
  const { t } = visit;
  if (concluido_em === null) return html`<span class="badge">${t.deliveries.inFlight}</span>`;
  return html`<span class="badge badge-entregue">${t.operator.erasedEvents(eventos)}</span>
    ${moment(visit, concluido_em)}`;
}
