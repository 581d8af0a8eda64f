/** The monthly batch, closed by the partner. */
import { z } from 'zod';
import { closedMonth } from '../../contract/resources/nucleus-resource.ts';
import { month } from '../../contract/values.ts';
import { closeSettlement } from '../../core/settlement/settlement.ts';
import type { HttpDeps } from '../deps.ts';
import type { AddOperation } from '../operation.ts';

export function addSandboxSettlementRoutes(add: AddOperation, { pool }: HttpDeps): void {
  add(
    {
      method: 'post',
      path: '/v1/sandbox/repasses',
      summary: {
        pt: 'O repasse do mês fecha; fechar de novo responde o que existe, com ja_fechado true',
        en: 'The settlement of the month closes; closing it again answers what there is, with ja_fechado true',
      },
      scope: 'sandbox',
      body: z.strictObject({ competencia: month }),
      answers: { 200: { description: { pt: 'O repasse', en: 'The settlement' }, schema: closedMonth } },
      errors: ['TRANSICAO_INVALIDA'],
    },
    async ({ partnerId, actor, requestId, body: { competencia } }) => {
      const closing = await closeSettlement(pool, { partnerId, actor, requestId }, competencia);
      if ('refused' in closing) return closing;
      const { settlement, alreadyClosed } = closing.ok;
      return { status: 200, body: { ...settlement, ja_fechado: alreadyClosed } };
    },
  );
}
