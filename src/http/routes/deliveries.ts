/** Deliveries as their partner sees them: listed, with their attempts, and sent again. */
import { z } from 'zod';
import * as contract from '../../contract/resources/delivery-resource.ts';
import { NOT_FOUND } from '../../contract/refusals.ts';
import { id as uuid } from '../../contract/values.ts';
import { type DeliveryList, readDeliveries, readDelivery } from '../../delivery/partner/read-deliveries.ts';
import { explainDelivery } from '../../delivery/partner/explain.ts';
import { readSent, type SentDelivery } from '../../delivery/partner/read-sent.ts';
import { resendOne } from '../../delivery/partner/resend.ts';
import { readWebhook, readWebhookIds } from '../../webhooks/webhooks.ts';
import type { Cursors } from '../cursor.ts';
import type { HttpDeps } from '../deps.ts';
import type { AddOperation } from '../operation.ts';
import { cursor, limite, readCursor } from '../page.ts';
import { periodEnd, periodStart } from '../period.ts';

/** The event's id, whose order is the list's, then the webhook's. */
const cursorFields = z.tuple([uuid, uuid]);

const STATUS_CODE = 'deve ser um status HTTP de 100 a 599';
const statusCode = z
  .string({ error: STATUS_CODE })
  .regex(/^[1-5]\d\d$/, STATUS_CODE)
  .transform(Number)
  .meta({
    type: 'integer',
    minimum: 100,
    maximum: 599,
    text: { pt: 'O ultimo_status_http', en: 'The ultimo_status_http' },
  });

const searchQuery = z.strictObject({
  status: contract.deliveryStatus.optional(),
  evento: contract.deliveredName.optional(),
  emprestimo_id: uuid.optional(),
  resultado: contract.outcome.optional().meta({ text: { pt: 'O ultimo_resultado', en: 'The ultimo_resultado' } }),
  status_http: statusCode.optional(),
  desde: periodStart.optional(),
  ate: periodEnd.optional(),
  cursor,
  limite,
});

const DESCRIPTION = {
  pt: 'Uma página pode trazer menos itens do que o limite, ou nenhum, e ainda ter proximo_cursor: a busca continua onde parou.',
  en: 'A page may bring fewer items than the limit, or none, and still have proximo_cursor: the search goes on where it stopped.',
};

const AS_SENT = {
  pt:
    'corpo é o texto enviado: os seus bytes em UTF-8 são os do corpo de toda tentativa. Os cabeçalhos são refeitos do que ficou ' +
    'registrado, com as assinaturas dos secrets daquele momento; onde já não se sabe qual secret assinou ' +
    '(assinaturas_conhecidas: false), vêm sem elas. User-Agent é o da versão atual, e traceparent o do evento.',
  en: "corpo is the text that was sent: its bytes in UTF-8 are those of every attempt's body. Headers are made again from what was recorded, signed by the secrets of that moment; where it is not known any more which secret signed (assinaturas_conhecidas: false), they come without signatures. User-Agent is that of the present version, and traceparent the event's.",
};

export function addDeliveryRoutes(add: AddOperation, deps: HttpDeps): void {
  addLists(add, deps);
  addOne(add, deps);
  addWait(add, deps);
}

function addLists(add: AddOperation, { pool, cursors }: HttpDeps): void {
  const shared = {
    method: 'get',
    description: DESCRIPTION,
    scope: 'webhooks:read',
    query: searchQuery,
    answers: {
      200: {
        description: { pt: 'Uma página, e o cursor da próxima', en: 'A page, and the cursor of the next' },
        schema: contract.deliveryPage,
      },
    },
  } as const;

  add(
    {
      ...shared,
      path: '/v1/webhooks/{id}/entregas',
      summary: {
        pt: 'Entregas de um webhook, da mais nova à mais antiga',
        en: 'Deliveries of a webhook, the newest first',
      },
      errors: ['NAO_ENCONTRADO'],
    },
    async ({ partnerId, id, query }) => {
      const search = await readSearch(cursors, id, query);
      if ('refused' in search) return search;
      if ((await readWebhook(pool, partnerId, id)) === null) return NOT_FOUND;
      const { wanted, write } = search.ok;
      return { status: 200, body: await write(await readDeliveries(pool, { ...wanted, partnerId, webhookIds: [id] })) };
    },
  );

  add(
    {
      ...shared,
      path: '/v1/entregas',
      summary: {
        pt: 'Entregas de todos os webhooks do parceiro, ativos ou não, da mais nova à mais antiga',
        en: "Deliveries of all the partner's webhooks, active or not, the newest first",
      },
    },
    async ({ partnerId, query }) => {
      const search = await readSearch(cursors, partnerId, query);
      if ('refused' in search) return search;
      const { wanted, write } = search.ok;
      const webhookIds = await readWebhookIds(pool, partnerId);
      return { status: 200, body: await write(await readDeliveries(pool, { ...wanted, partnerId, webhookIds })) };
    },
  );
}

/** What is searched for, and how its page is written. A cursor belongs to one list, `of`, and to one set of filters. */
async function readSearch(cursors: Cursors, of: string, query: z.output<typeof searchQuery>) {
  const { status, evento, emprestimo_id, resultado, status_http, desde, ate } = query;
  const filters = [status, evento, emprestimo_id, resultado, status_http, desde, ate];
  const list = `entregas ${of} ${JSON.stringify(filters)}`;
  const given = await readCursor(cursors, list, cursorFields, query.cursor);
  if ('refused' in given) return given;
  const found = {
    wanted: {
      status: status ?? null,
      event: evento ?? null,
      loanId: emprestimo_id ?? null,
      outcome: resultado ?? null,
      statusCode: status_http ?? null,
      from: desde ?? null,
      until: ate ?? null,
      after: given.ok && { eventId: given.ok[0], webhookId: given.ok[1] },
      limit: query.limite,
    },
    write: async ({ deliveries, next }: DeliveryList) => ({
      itens: deliveries,
      proximo_cursor: next && (await cursors.write(list, [next.eventId, next.webhookId])),
    }),
  };
  return { ok: found };
}

function addOne(add: AddOperation, { pool, vault }: HttpDeps): void {
  const answers = {
    200: {
      description: { pt: 'A entrega, com o que foi enviado', en: 'The delivery, with what was sent' },
      schema: contract.deliveryAsSent,
    },
  };
  add(
    {
      method: 'get',
      path: '/v1/entregas/{id}',
      summary: {
        pt: 'Uma entrega com o corpo exato e as suas tentativas, cada uma com os cabeçalhos enviados',
        en: 'A delivery with its exact body and its attempts, each with the headers that were sent',
      },
      description: AS_SENT,
      scope: 'webhooks:read',
      answers,
      errors: ['NAO_ENCONTRADO'],
    },
    async ({ partnerId, id }) => {
      const delivery = await readDelivery(pool, partnerId, id);
      // Read after it, so it has each of its attempts.
      const sent = await readSent(pool, (webhookId, sealed) => vault.decrypt(webhookId, sealed), partnerId, id);
      return delivery === null || sent === null ? NOT_FOUND : { status: 200, body: asSent(delivery, sent) };
    },
  );

  add(
    {
      method: 'post',
      path: '/v1/entregas/{id}/reenvio',
      summary: {
        pt: 'Envia a entrega de novo, com o mesmo id e o calendário desde o início',
        en: 'Sends the delivery again, with the same id and a fresh schedule',
      },
      scope: 'webhooks:write',
      answers: {
        202: {
          description: { pt: 'A entrega, pendente', en: 'The delivery, pending' },
          schema: contract.deliveryWithAttempts,
        },
      },
      errors: ['ERRO_VALIDACAO', 'NAO_ENCONTRADO', 'TRANSICAO_INVALIDA'],
    },
    async ({ partnerId, id, actor, requestId }) => {
      const resent = await pool.transaction((tx) => resendOne(tx, partnerId, id, { actor, requestId }));
      if ('refused' in resent) return resent;
      const delivery = await readDelivery(pool, partnerId, id);
      return delivery === null ? NOT_FOUND : { status: 202, body: delivery };
    },
  );
}

function addWait(add: AddOperation, { pool }: HttpDeps): void {
  add(
    {
      method: 'get',
      path: '/v1/entregas/{id}/espera',
      summary: { pt: 'Por que uma entrega espera, em uma frase', en: 'Why a delivery waits, in one sentence' },
      scope: 'webhooks:read',
      answers: {
        200: { description: { pt: 'O motivo', en: 'The reason' }, schema: contract.deliveryWait },
      },
      errors: ['NAO_ENCONTRADO'],
    },
    async ({ partnerId, id }) => {
      const found = await pool.run((sql) => explainDelivery(sql, id, partnerId));
      if (found === null) return NOT_FOUND;
      const { reason: motivo, pt: explicacao, facts } = found;
      const proxima_tentativa_em = facts.nextAttemptAt?.toISOString() ?? null;
      return { status: 200, body: { entrega_id: id, status: facts.status, motivo, explicacao, proxima_tentativa_em } };
    },
  );
}

function asSent(delivery: contract.DeliveryWithAttempts, { body, attempts }: SentDelivery): contract.DeliveryAsSent {
  const tentativas = delivery.tentativas.map((attempt) => {
    const sent = attempts.find(({ number, late }) => number === attempt.numero && late === attempt.atrasada);
    if (sent === undefined) throw new Error('an attempt that was read is gone');
    const { url, address: endereco, headers, isSigned: assinaturas_conhecidas } = sent;
    const cabecalhos = headers.map(([nome, valor]) => ({ nome, valor }));
    return { ...attempt, url, endereco, cabecalhos, assinaturas_conhecidas };
  });
  return { ...delivery, corpo: body.toString('utf8'), tentativas };
}
