/** `/v1/operador/parceiros`: the partners' accounts, read, and let go. */
import { z } from 'zod';
import { TIMES_S } from '../../contract/delivery.ts';
import { NOT_FOUND } from '../../contract/refusals.ts';
import * as contract from '../../contract/resources/operator.ts';
import { listPartners, readPartner } from '../../steering/partners.ts';
import { readBounded } from '../../steering/bounds.ts';
import { deactivatePartner } from '../../steering/off-boarding.ts';
import type { PartnerRow } from '../../steering/partners.ts';
import { answered } from '../answer.ts';
import { route, type Routes } from '../route.ts';
import { cursor, limite, PAGE_ANSWER } from '../page.ts';
import { afterId, beforeLine, historyQuery, operatorOf, viewLine } from './operator-webhooks.ts';

const PATH = '/v1/operador/parceiros';

export const operatorPartnerRoutes: Routes = [
  route(`GET ${PATH}`, 'operador', {
    summary: { pt: 'Os parceiros, do mais antigo ao mais novo', en: 'The partners, the oldest first' },
    query: z.strictObject({ cursor, limite }),
    answers: answered(200, contract.operatorPartners, PAGE_ANSWER),
  })(async ({ query: { cursor: given, limite: limit } }, { pool, cursors }) => {
    const after = await cursors.read(PATH, afterId, given);
    const page = { after: after?.[0] ?? null, limit };
    const { rows, next } = await readBounded(pool, (sql) => listPartners(sql, false, page));
    return {
      status: 200,
      body: { itens: rows.map(view), proximo_cursor: next && (await cursors.write(PATH, [next])) },
    };
  }),
  route(`GET ${PATH}/{id}`, 'operador', {
    summary: {
      pt: 'A conta de um parceiro, e o seu histórico, da linha mais nova à mais antiga',
      en: "A partner's account, and its history, the newest line first",
    },
    query: historyQuery,
    answers: answered(200, contract.shownPartner, { pt: 'O parceiro', en: 'The partner' }),
  })(async ({ id, query }, { pool, cursors }) => {
    const list = `${PATH} ${id}`;
    const before = await cursors.read(list, beforeLine, query.cursor);
    const found = await readBounded(pool, (sql) => readPartner(sql, id, before?.[0] ?? null));
    if (found === null) return NOT_FOUND;
    const proximo_cursor = found.olderThan && (await cursors.write(list, [found.olderThan]));
    return { status: 200, body: { ...view(found), historico: found.history.map(viewLine), proximo_cursor } };
  }),
  route(`POST ${PATH}/{id}/desligar`, 'operador', {
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
    return found === null ? NOT_FOUND : { status: 200, body: view(found) };
  }),
];

function view({ id, name, active, signing, documents, issuance, createdAt }: PartnerRow) {
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
