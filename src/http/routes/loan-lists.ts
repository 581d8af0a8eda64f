/** `GET /v1/emprestimos` and `GET /v1/emprestimos/{id}/historico`: the loans that moved last, and the way that one took. */
import { z } from 'zod';
import { NOT_FOUND } from '../../contract/refusals.ts';
import { loanHistory, recentLoans } from '../../contract/resources/loan-resource.ts';
import { readLoanHistory } from '../../core/loans/loan-history.ts';
import { readRecentLoans } from '../../log/recent-loans.ts';
import type { HttpDeps } from '../deps.ts';
import type { AddOperation } from '../operation.ts';
import { limite } from '../page.ts';

export function addLoanListRoutes(add: AddOperation, { pool }: HttpDeps): void {
  add(
    {
      method: 'get',
      path: '/v1/emprestimos',
      summary: {
        pt: 'Os empréstimos que se moveram por último, do mais novo ao mais antigo',
        en: 'The loans that moved last, the newest first',
      },
      description: {
        pt: 'São os dos 2.000 eventos mais novos do parceiro; para tudo, leia GET /v1/eventos.',
        en: "They are those of the partner's newest 2,000 events; for everything read GET /v1/eventos.",
      },
      scope: 'emprestimos:read',
      query: z.strictObject({ limite }),
      answers: { 200: { description: { pt: 'Os empréstimos', en: 'The loans' }, schema: recentLoans } },
    },
    async ({ partnerId, query: { limite: limit } }) => {
      const loans = await readRecentLoans(pool, partnerId, limit);
      const itens = loans.map(({ id, number, status, version, lastEvent, at }) => {
        return {
          id,
          numero: number,
          status,
          versao: version,
          ultimo_evento: lastEvent,
          atualizado_em: at.toISOString(),
        };
      });
      return { status: 200, body: { itens } };
    },
  );

  add(
    {
      method: 'get',
      path: '/v1/emprestimos/{id}/historico',
      summary: {
        pt: 'Cada evento de um empréstimo, com o estado a que levou e as suas entregas',
        en: 'Each event of a loan, with the state that it led to and its deliveries',
      },
      description: {
        pt: 'Traz também os fatos que nunca são enviados, sem entregas. situacao_documentos é a de entrega_docs_registry.',
        en: 'It brings the facts that are never sent, too, without deliveries. situacao_documentos is that of entrega_docs_registry.',
      },
      scope: 'emprestimos:read',
      answers: { 200: { description: { pt: 'Os eventos', en: 'The events' }, schema: loanHistory } },
      errors: ['NAO_ENCONTRADO'],
    },
    async ({ partnerId, id }) => {
      const history = await readLoanHistory(pool, partnerId, id);
      return history === null ? NOT_FOUND : { status: 200, body: history };
    },
  );
}
