/** Deliveries as their partner sees them: listed, with their attempts, and sent again. */
import { z } from 'zod';
import * as contract from '../../contract/delivery-resource.ts';
import { DELIVERY_STATUSES } from '../../contract/statuses.ts';
import { id as uuid } from '../../contract/values.ts';
import { readDeliveries, readDelivery } from '../../delivery/read-deliveries.ts';
import { resendOne } from '../../delivery/resend.ts';
import { readWebhook } from '../../webhooks/registrations.ts';
import { ApiError, notFound } from '../api-error.ts';
import type { HttpDeps } from '../deps.ts';
import type { AddOperation } from '../operation.ts';
import { badCursor, cursor, limite } from '../page.ts';
import { periodEnd, periodStart } from '../period.ts';

/** The event's id alone: the list is in its order. */
const place = z.tuple([uuid]);

const search = z.strictObject({
  status: z.enum(DELIVERY_STATUSES).optional(),
  evento: contract.deliveredName.optional(),
  emprestimo_id: uuid.optional(),
  desde: periodStart.optional(),
  ate: periodEnd.optional(),
  cursor,
  limite,
});

export function addDeliveryRoutes(add: AddOperation, deps: HttpDeps): void {
  addList(add, deps);
  addOne(add, deps);
}

function addList(add: AddOperation, { pool, cursors }: HttpDeps): void {
  add(
    {
      method: 'get',
      path: '/v1/webhooks/{id}/entregas',
      summary: 'Entregas de um webhook, da mais nova à mais antiga',
      scope: 'webhooks:read',
      query: search,
      answers: { 200: { description: 'Uma página, e o cursor da próxima', schema: contract.deliveryPage } },
      errors: ['NAO_ENCONTRADO'],
    },
    async ({ partnerId, id, query }, c) => {
      const { status, evento, emprestimo_id, desde, ate } = query;
      const list = `entregas ${id} ${JSON.stringify([status, evento, emprestimo_id, desde, ate])}`;
      const given = query.cursor === undefined ? null : await cursors.read(list, place, query.cursor);
      if (query.cursor !== undefined && given === null) throw badCursor();
      if ((await readWebhook(pool, partnerId, id)) === null) throw notFound();
      const { deliveries, next } = await readDeliveries(pool, {
        webhookId: id,
        status: status ?? null,
        event: evento ?? null,
        loanId: emprestimo_id ?? null,
        from: desde ?? null,
        until: ate ?? null,
        after: given?.[0] ?? null,
        limit: query.limite,
      });
      const proximo_cursor = next === null ? null : await cursors.write(list, [next]);
      return c.json({ itens: deliveries, proximo_cursor }, 200);
    },
  );
}

function addOne(add: AddOperation, { pool }: HttpDeps): void {
  const answers = { 200: { description: 'A entrega', schema: contract.deliveryWithAttempts } };
  add(
    {
      method: 'get',
      path: '/v1/entregas/{id}',
      summary: 'Uma entrega com as suas tentativas',
      scope: 'webhooks:read',
      answers,
      errors: ['NAO_ENCONTRADO'],
    },
    async ({ partnerId, id }, c) => {
      const delivery = await readDelivery(pool, partnerId, id);
      if (delivery === null) throw notFound();
      return c.json(delivery, 200);
    },
  );

  add(
    {
      method: 'post',
      path: '/v1/entregas/{id}/reenvio',
      summary: 'Envia a entrega de novo, com o mesmo id e o calendário desde o início',
      scope: 'webhooks:write',
      answers: { 202: { description: 'A entrega, pendente', schema: contract.deliveryWithAttempts } },
      errors: ['ERRO_VALIDACAO', 'NAO_ENCONTRADO', 'TRANSICAO_INVALIDA'],
    },
    async ({ partnerId, id, actor, requestId }, c) => {
      const resent = await pool.transaction((tx) => resendOne(tx, partnerId, id, { actor, requestId }));
      const delivery = resent === null ? null : await readDelivery(pool, partnerId, id);
      if (delivery === null) throw notFound();
      if (resent === 'inactive') throw webhookInactive();
      return c.json(delivery, 202);
    },
  );
}

/** 409: what is asked for would be sent, and an inactive registration is not sent. */
export function webhookInactive(): ApiError {
  return new ApiError('TRANSICAO_INVALIDA', 'o webhook está inativo; reative-o antes');
}
