/** `/v1/operador/parceiros`: the partners' accounts, read, and let go; `/v1/operador/apagamentos`: workers are forgotten, by order. */
import * as contract from '../../contract/resources/operator.ts';
import * as worker from '../../contract/resources/worker-resource.ts';
import { z } from 'zod';
import { TIMES_S } from '../../contract/delivery.ts';
import { NOT_FOUND } from '../../contract/refusals.ts';
import { readBounded } from '../../admin/bounds.ts';
import { deactivatePartner } from '../../admin/off-boarding.ts';
import { listPartners, type PartnerRow, readPartner } from '../../admin/partners.ts';
import { answered } from '../answer.ts';
import { route, type Routes } from '../route.ts';
import { cursor, limite, PAGE_ANSWER } from '../page.ts';
import { afterId, beforeLine, historyQuery, operatorOf, viewLine } from './operator-webhooks.ts';
import { type ErasureState, readErasure, readErasures } from '../../core/workers/erase.ts';
import { orderErasure } from '../../core/workers/order-erasure.ts';

const PARTNERS = '/v1/operador/parceiros';
const ERASURES = '/v1/operador/apagamentos';

export const operatorPartnerRoutes: Routes = [
  route(`GET ${PARTNERS}`, 'operador', {
    summary: { pt: 'Os parceiros, do mais antigo ao mais novo', en: 'The partners, the oldest first' },
    query: z.strictObject({ cursor, limite }),
    answers: answered(200, contract.operatorPartners, PAGE_ANSWER),
  })(async ({ query: { cursor: given, limite: limit } }, { pool, cursors }) => {
    const after = await cursors.read(PARTNERS, afterId, given);
    const page = { after: after?.[0] ?? null, limit };
    const { rows, next } = await readBounded(pool, (sql) => listPartners(sql, false, page));
    const proximo_cursor = next && (await cursors.write(PARTNERS, [next]));
    return { status: 200, body: { itens: rows.map(viewPartner), proximo_cursor } };
  }),
  route(`GET ${PARTNERS}/{id}`, 'operador', {
    summary: {
      pt: 'A conta de um parceiro, e o seu histórico, da linha mais nova à mais antiga',
      en: "A partner's account, and its history, the newest line first",
    },
    query: historyQuery,
    answers: answered(200, contract.shownPartner, { pt: 'O parceiro', en: 'The partner' }),
  })(async ({ id, query }, { pool, cursors }) => {
    const list = `${PARTNERS} ${id}`;
    const before = await cursors.read(list, beforeLine, query.cursor);
    const found = await readBounded(pool, (sql) => readPartner(sql, id, before?.[0] ?? null));
    if (found === null) return NOT_FOUND;
    const proximo_cursor = found.olderThan && (await cursors.write(list, [found.olderThan]));
    return { status: 200, body: { ...viewPartner(found), historico: found.history.map(viewLine), proximo_cursor } };
  }),
  route(`POST ${PARTNERS}/{id}/desligar`, 'operador', {
    summary: {
      pt: 'Desliga o parceiro: os seus tokens deixam de valer, e nada mais lhe é enviado',
      en: 'Lets the partner go: its tokens are refused, and nothing more is sent to it',
    },
    description: {
      pt: `O que está pendente fica suspensa. O que está em andamento termina em até ${TIMES_S.lease} s. Só a linha de comando o traz de volta (partner reactivate).`,
      en: `What is pending becomes suspensa. What is in flight ends within ${TIMES_S.lease} s. Only the command line brings it back (partner reactivate).`,
    },
    body: contract.act,
    answers: answered(200, contract.operatorPartner, { pt: 'A conta', en: 'The account' }),
    errors: ['TRANSICAO_INVALIDA'],
  })(async (call, { pool }) => {
    const done = await pool.transaction((tx) => deactivatePartner(tx, call.id, operatorOf(call)));
    if ('refused' in done) return done;
    const found = await readBounded(pool, (sql) => readPartner(sql, call.id));
    return found === null ? NOT_FOUND : { status: 200, body: viewPartner(found) };
  }),
  route(`POST ${ERASURES}`, 'operador', {
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
    body: worker.eraseWorker,
    answers: answered(202, worker.erasure, { pt: 'O pedido, selado', en: 'The order, sealed' }),
    errors: ['NAO_ENCONTRADO', 'TRANSICAO_INVALIDA', 'INDISPONIVEL'],
  })(async (call, { pool, workers }) => {
    if (workers === null) return { refused: { kind: 'noWorkerKey' } };
    const { cpf, ordem_judicial: courtOrder = null, motivo } = call.body;
    const { actor } = operatorOf(call);
    const order = { cpf, actor, reason: motivo.trim(), courtOrder, years: workers.eraseAfterYears };
    const ordered = await orderErasure(pool, workers.key, order);
    if ('refused' in ordered) return ordered;
    const state = await pool.run((sql) => readErasure(sql, ordered.ok.id));
    return state === null ? NOT_FOUND : { status: 202, body: viewErasure(state) };
  }),
  route(`GET ${ERASURES}`, 'operador', {
    summary: {
      pt: 'Os pedidos de apagamento, do mais novo ao mais antigo',
      en: 'The orders to erase, the newest first',
    },
    query: z.strictObject({ cursor, limite }),
    answers: answered(200, worker.erasures, PAGE_ANSWER),
  })(async ({ query: { cursor: given, limite: limit } }, { pool, cursors }) => {
    const before = await cursors.read(ERASURES, afterId, given);
    const found = await pool.run((sql) => readErasures(sql, before?.[0] ?? null, limit + 1));
    const itens = found.slice(0, limit).map(viewErasure);
    const last = found.length > limit ? itens.at(-1) : undefined;
    const proximo_cursor = last === undefined ? null : await cursors.write(ERASURES, [last.id]);
    return { status: 200, body: { itens, proximo_cursor } };
  }),
  route(`GET ${ERASURES}/{id}`, 'operador', {
    summary: { pt: 'Um pedido de apagamento, e se já concluiu', en: 'An order to erase, and whether it is done' },
    answers: answered(200, worker.erasure, { pt: 'O pedido', en: 'The order' }),
  })(async ({ id }, { pool }) => {
    const state = await pool.run((sql) => readErasure(sql, id));
    return state === null ? NOT_FOUND : { status: 200, body: viewErasure(state) };
  }),
];

function viewPartner({ id, name, active, signing, documents, issuance, createdAt }: PartnerRow) {
  return {
    id,
    nome: name,
    ativo: active,
    tipo_assinatura: signing,
    entrega_documentos: documents,
    emissao: issuance,
    criado_em: createdAt.toISOString(),
  };
}

function viewErasure(state: ErasureState): worker.ErasureResource {
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
