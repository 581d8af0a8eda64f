/** What a partner has sent to one registration: many deliveries again, or a test. */
import { z } from 'zod';
import { TEST_NAME } from '../../contract/delivery.ts';
import * as contract from '../../contract/delivery-resource.ts';
import { DELIVERY_STATUSES } from '../../contract/statuses.ts';
import { id as uuid } from '../../contract/values.ts';
import { resendMany } from '../../delivery/resend.ts';
import { awaitOutcome, makeTestDelivery } from '../../delivery/try-out.ts';
import { readClock } from '../../log/read.ts';
import { readWebhook } from '../../webhooks/registrations.ts';
import { notFound } from '../api-error.ts';
import { momentField } from '../cursor.ts';
import type { HttpDeps } from '../deps.ts';
import type { AddOperation } from '../operation.ts';
import { badCursor, cursor } from '../page.ts';
import { periodEnd, periodStart } from '../period.ts';
import { webhookInactive } from './deliveries.ts';

/** How long one request goes on; the caller asks again with the answer's cursor. */
const RESEND_MS = 5_000;
/** An attempt takes 30 s at most, and is claimed and recorded around it. */
const TEST_WAIT_MS = 35_000;

/** What `reenvios` means without `status`: what failed. A delivery that arrived is sent again only when asked for by name. */
const FAILED = ['erro', 'suspensa'] as const;

const isStatus = (given: unknown) => DELIVERY_STATUSES.some((status) => status === given);
const statuses = z
  .array(contract.deliveryStatus, 'deve ser um status, ou uma lista deles')
  .min(1, 'deve ter ao menos um status')
  .max(DELIVERY_STATUSES.length, `tem no máximo ${DELIVERY_STATUSES.length} status`)
  .refine((list) => new Set(list).size === list.length, 'tem um status repetido')
  .meta({
    uniqueItems: true,
    description: `Sem ele, ${FAILED.join(' e ')}. Um só também pode vir como texto, fora da lista`,
  });
const manyToResend = z.strictObject({
  desde: periodStart,
  ate: periodEnd.optional(),
  status: z.preprocess((given) => (isStatus(given) ? [given] : given), statuses.default([...FAILED])),
  simular: z.boolean().default(false),
  cursor,
});
const place = z.tuple([momentField, uuid]);

export function addWebhookSendRoutes(add: AddOperation, deps: HttpDeps): void {
  addResends(add, deps);
  addTest(add, deps);
}

function addResends(add: AddOperation, { pool, cursors }: HttpDeps): void {
  add(
    {
      method: 'post',
      path: '/v1/webhooks/{id}/reenvios',
      summary: 'Envia de novo as entregas de um período, sem status as que falharam; com simular, só conta',
      scope: 'webhooks:write',
      body: manyToResend,
      bodyExample: { desde: '2026-01-31', status: ['erro', 'suspensa'], simular: true },
      answers: { 200: { description: 'Quantas, e onde continuar se não acabou', schema: contract.resendResult } },
      errors: ['NAO_ENCONTRADO', 'TRANSICAO_INVALIDA'],
    },
    async ({ partnerId, id, actor, requestId, body }, c) => {
      const list = `reenvios ${id}`;
      const given = body.cursor === undefined ? null : await cursors.read(list, place, body.cursor);
      if (body.cursor !== undefined && given === null) throw badCursor();
      const webhook = await readWebhook(pool, partnerId, id);
      if (webhook === null) throw notFound();
      if (!webhook.ativo && !body.simular) throw webhookInactive();

      // Without `ate` the period ends when it is first asked for, or it would run after what is made meanwhile.
      const until = given?.[0] ?? body.ate ?? (await endOfPresent(pool));
      const many = {
        webhookId: id,
        from: body.desde,
        until,
        statuses: body.status,
        after: given?.[1] ?? null,
        simulate: body.simular,
        author: { actor, requestId },
      };
      const result = await resendMany(pool, many, performance.now() + RESEND_MS);
      if (result === null) throw webhookInactive();
      const next = result.next === null ? null : await cursors.write(list, [until.toISOString(), result.next]);
      return c.json(
        { simulado: body.simular, entregas: result.count, em_andamento: result.inFlight, proximo_cursor: next },
        200,
      );
    },
  );
}

function addTest(add: AddOperation, { pool, testWaitMs = TEST_WAIT_MS }: HttpDeps): void {
  const schema = contract.deliveryWithAttempts;
  add(
    {
      method: 'post',
      path: '/v1/webhooks/{id}/teste',
      summary: `Envia um ${TEST_NAME} assinado a este webhook e responde com o que aconteceu`,
      scope: 'webhooks:write',
      answers: {
        200: { description: 'A entrega de teste, com a sua primeira tentativa', schema },
        202: { description: 'A entrega de teste, ainda sem resultado', schema },
      },
      errors: ['ERRO_VALIDACAO', 'NAO_ENCONTRADO', 'TRANSICAO_INVALIDA'],
    },
    async ({ partnerId, id, actor, requestId }, c) => {
      const made = await pool.transaction((tx) => makeTestDelivery(tx, partnerId, id, { actor, requestId }));
      if (made === null) throw notFound();
      if (made === 'inactive') throw webhookInactive();
      const { delivery, isOver } = await awaitOutcome(pool, partnerId, made.id, testWaitMs);
      return c.json(delivery, isOver ? 200 : 202);
    },
  );
}

/** The first millisecond after the present one of the database. */
async function endOfPresent(pool: HttpDeps['pool']): Promise<Date> {
  return new Date((await pool.run(readClock)).getTime() + 1);
}
