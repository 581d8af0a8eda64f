/** Deliveries as their partner sees them: listed, with their attempts, and sent again. */
import { z } from 'zod';
import * as contract from '../../contract/delivery-resource.ts';
import { id as uuid } from '../../contract/values.ts';
import { type DeliveryList, readDeliveries, readDelivery } from '../../delivery/read-deliveries.ts';
import { resendOne } from '../../delivery/resend.ts';
import { readWebhook, readWebhookIds } from '../../webhooks/registrations.ts';
import { ApiError, notFound } from '../api-error.ts';
import type { Cursors } from '../cursor.ts';
import type { HttpDeps } from '../deps.ts';
import type { AddOperation } from '../operation.ts';
import { badCursor, cursor, limite } from '../page.ts';
import { periodEnd, periodStart } from '../period.ts';

/** The event's id, whose order is the list's, then the registration's. */
const place = z.tuple([uuid, uuid]);

const STATUS_CODE = 'deve ser um status HTTP de 100 a 599';
const statusCode = z
  .string({ error: STATUS_CODE })
  .regex(/^[1-5]\d\d$/, STATUS_CODE)
  .transform(Number)
  .meta({ type: 'integer', minimum: 100, maximum: 599, description: 'O ultimo_status_http' });

const search = z.strictObject({
  status: contract.deliveryStatus.optional(),
  evento: contract.deliveredName.optional(),
  emprestimo_id: uuid.optional(),
  resultado: contract.outcome.optional().meta({ description: 'O ultimo_resultado' }),
  status_http: statusCode.optional(),
  desde: periodStart.optional(),
  ate: periodEnd.optional(),
  cursor,
  limite,
});

const DESCRIPTION =
  'Uma página pode trazer menos itens do que o limite, ou nenhum, e ainda ter proximo_cursor: a busca continua onde parou.';

export function addDeliveryRoutes(add: AddOperation, deps: HttpDeps): void {
  addLists(add, deps);
  addOne(add, deps);
}

function addLists(add: AddOperation, { pool, cursors }: HttpDeps): void {
  const shared = {
    method: 'get',
    description: DESCRIPTION,
    scope: 'webhooks:read',
    query: search,
    answers: { 200: { description: 'Uma página, e o cursor da próxima', schema: contract.deliveryPage } },
  } as const;

  add(
    {
      ...shared,
      path: '/v1/webhooks/{id}/entregas',
      summary: 'Entregas de um webhook, da mais nova à mais antiga',
      errors: ['NAO_ENCONTRADO'],
    },
    async ({ partnerId, id, query }, c) => {
      const { wanted, write } = await readSearch(cursors, id, query);
      if ((await readWebhook(pool, partnerId, id)) === null) throw notFound();
      return c.json(await write(await readDeliveries(pool, { ...wanted, webhookIds: [id] })), 200);
    },
  );

  add(
    {
      ...shared,
      path: '/v1/entregas',
      summary: 'Entregas de todos os webhooks do parceiro, ativos ou não, da mais nova à mais antiga',
    },
    async ({ partnerId, query }, c) => {
      const { wanted, write } = await readSearch(cursors, partnerId, query);
      const webhookIds = await readWebhookIds(pool, partnerId);
      return c.json(await write(await readDeliveries(pool, { ...wanted, webhookIds })), 200);
    },
  );
}

/** What is searched for, and how its page is written. A cursor belongs to one list, `of`, and to one set of filters. */
async function readSearch(cursors: Cursors, of: string, query: z.output<typeof search>) {
  const { status, evento, emprestimo_id, resultado, status_http, desde, ate } = query;
  const filters = [status, evento, emprestimo_id, resultado, status_http, desde, ate];
  const list = `entregas ${of} ${JSON.stringify(filters)}`;
  const given = query.cursor === undefined ? null : await cursors.read(list, place, query.cursor);
  if (query.cursor !== undefined && given === null) throw badCursor();
  return {
    wanted: {
      status: status ?? null,
      event: evento ?? null,
      loanId: emprestimo_id ?? null,
      outcome: resultado ?? null,
      statusCode: status_http ?? null,
      from: desde ?? null,
      until: ate ?? null,
      after: given && { eventId: given[0], webhookId: given[1] },
      limit: query.limite,
    },
    write: async ({ deliveries, next }: DeliveryList) => ({
      itens: deliveries,
      proximo_cursor: next && (await cursors.write(list, [next.eventId, next.webhookId])),
    }),
  };
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
