/** `/v1/operador/apagamentos`: workers are forgotten, by order. */
import { z } from 'zod';
import { NOT_FOUND } from '../../contract/refusals.ts';
import * as contract from '../../contract/resources/worker-resource.ts';
import { type ErasureState, readErasure, readErasures } from '../../core/workers/erase.ts';
import { orderErasure } from '../../core/workers/order-erasure.ts';
import { answered } from '../answer.ts';
import { route, type Routes } from '../route.ts';
import { cursor, limite, PAGE_ANSWER } from '../page.ts';
import { afterId, operatorOf } from './operator-webhooks.ts';

const PATH = '/v1/operador/apagamentos';

export const operatorWorkerRoutes: Routes = [
  route(`POST ${PATH}`, 'operador', {
    summary: {
      pt: 'Apaga um trabalhador: tudo que o identifica passa a ser apagado, para sempre',
      en: 'Forgets a worker: everything that tells of the person becomes apagado, for good',
    },
    description: {
      pt:
        'Ids, versões, valores, datas e status ficam, e com eles os selos, o balanço e as provas. É recusado enquanto um ' +
        'empréstimo do trabalhador está aberto ou corre o prazo legal (5 anos depois do fim, se o serviço não tiver outro); ' +
        'ordem_judicial vale contra ambos. O trabalho segue depois da resposta; o pedido diz quando concluiu. Repetido ' +
        'enquanto isso, responde com o mesmo pedido. Não tem volta.',
      en: 'Ids, versions, amounts, days and statuses stay, and with them the seals, the balance and proofs. It is refused while a loan of the worker is open or the legal period runs (5 years after its end, unless the service has another); ordem_judicial stands against both. The work goes on after the answer; the order says when it was done. Repeated meanwhile, it answers with the same order. It cannot be undone.',
    },
    body: contract.eraseWorker,
    answers: answered(202, contract.erasure, { pt: 'O pedido, selado', en: 'The order, sealed' }),
    errors: ['NAO_ENCONTRADO', 'TRANSICAO_INVALIDA', 'INDISPONIVEL'],
  })(async (call, { pool, workers }) => {
    if (workers === null) return { refused: { kind: 'noWorkerKey' } };
    const { cpf, ordem_judicial: courtOrder = null, motivo } = call.body;
    const { actor } = operatorOf(call);
    const order = { cpf, actor, reason: motivo.trim(), courtOrder, years: workers.eraseAfterYears };
    const ordered = await orderErasure(pool, workers.key, order);
    if ('refused' in ordered) return ordered;
    const state = await pool.run((sql) => readErasure(sql, ordered.ok.id));
    return state === null ? NOT_FOUND : { status: 202, body: view(state) };
  }),
  route(`GET ${PATH}`, 'operador', {
    summary: {
      pt: 'Os pedidos de apagamento, do mais novo ao mais antigo',
      en: 'The orders to erase, the newest first',
    },
    query: z.strictObject({ cursor, limite }),
    answers: answered(200, contract.erasures, PAGE_ANSWER),
  })(async ({ query: { cursor: given, limite: limit } }, { pool, cursors }) => {
    const before = await cursors.read(PATH, afterId, given);
    const found = await pool.run((sql) => readErasures(sql, before?.[0] ?? null, limit + 1));
    const itens = found.slice(0, limit).map(view);
    const last = found.length > limit ? itens.at(-1) : undefined;
    return {
      status: 200,
      body: { itens, proximo_cursor: last === undefined ? null : await cursors.write(PATH, [last.id]) },
    };
  }),
  route(`GET ${PATH}/{id}`, 'operador', {
    summary: { pt: 'Um pedido de apagamento, e se já concluiu', en: 'An order to erase, and whether it is done' },
    answers: answered(200, contract.erasure, { pt: 'O pedido', en: 'The order' }),
  })(async ({ id }, { pool }) => {
    const state = await pool.run((sql) => readErasure(sql, id));
    return state === null ? NOT_FOUND : { status: 200, body: view(state) };
  }),
];

function view(state: ErasureState): contract.ErasureResource {
  return {
    id: state.id,
    situacao: state.doneAt === null ? 'em_andamento' : 'concluido',
    eventos: state.events,
    motivo: state.reason,
    ordem_judicial: state.courtOrder,
    autor: state.actor,
    pedido_em: state.orderedAt.toISOString(),
    concluido_em: state.doneAt?.toISOString() ?? null,
  };
}
