/** What a partner has sent again to one webhook. */
import { z } from 'zod';
import * as contract from '../../contract/resources/delivery-resource.ts';
import { NOT_FOUND } from '../../contract/refusals.ts';
import { SUBSCRIBABLE_NAMES } from '../../contract/events.ts';
import { DELIVERY_STATUSES } from '../../contract/statuses.ts';
import { id as uuid } from '../../contract/values.ts';
import { resendMany } from '../../delivery/partner/resend.ts';
import { readClock } from '../../log/read.ts';
import { readWebhook } from '../../webhooks/webhooks.ts';
import { momentField } from '../cursor.ts';
import type { HttpDeps } from '../deps.ts';
import { answered } from '../answer.ts';
import { route, type Routes } from '../route.ts';
import { cursor, periodEnd, periodStart } from '../page.ts';

/** How long one request goes on unless told otherwise; the caller asks again with the answer's cursor. */
const RESEND_MS = 5_000;

/** The statuses that `reenvios` means without `status`. What arrived is sent again by its id alone. */
const FAILED = ['erro', 'suspensa'] as const;

const isStatus = (given: unknown) => DELIVERY_STATUSES.some((status) => status === given);
const statuses = z
  .array(contract.deliveryStatus, 'deve ser um status, ou uma lista deles')
  .min(1, 'deve ter ao menos um status')
  .max(DELIVERY_STATUSES.length, `tem no máximo ${DELIVERY_STATUSES.length} status`)
  .refine((list) => new Set(list).size === list.length, 'tem um status repetido')
  .meta({
    uniqueItems: true,
    text: {
      pt: `Sem ele, ${FAILED.join(' e ')}. Um só também pode vir como texto, fora da lista`,
      en: `Without it, ${FAILED.join(' and ')}. One alone may also come as text, outside of the list`,
    },
  });
const events = z
  .array(contract.deliveredName)
  .min(1, 'deve ter ao menos um evento')
  .max(SUBSCRIBABLE_NAMES.length, `tem no máximo ${SUBSCRIBABLE_NAMES.length} eventos`)
  .meta({ text: { pt: 'Sem ele, todos', en: 'Without it, all' } });
const manyToResend = z.strictObject({
  desde: periodStart,
  ate: periodEnd.optional(),
  // No `default`: generators write it as a constant of the enum, under the name that x-enum-varnames has replaced.
  status: z.preprocess((given) => (isStatus(given) ? [given] : given), statuses.optional()),
  eventos: events.optional(),
  simular: z.boolean().default(false),
  cursor,
});
const cursorFields = z.tuple([momentField, uuid]);

export const webhookSendRoutes: Routes = [
  route('POST /v1/webhooks/{id}/reenvios', 'webhooks:write', {
    summary: {
      pt: 'Envia de novo as entregas de um período, sem status as que falharam; com simular, só conta',
      en: 'Sends the deliveries of a period again, without status those that failed; with simular it only counts',
    },
    body: manyToResend,
    bodyExample: { desde: '2026-01-31', status: ['erro', 'suspensa'], simular: true },
    answers: answered(200, contract.resendResult, {
      pt: 'Quantas, e onde continuar se não acabou',
      en: 'How many, and where to go on if it is not over',
    }),
    errors: ['TRANSICAO_INVALIDA'],
  })(async ({ partnerId, id, actor, requestId, body }, { pool, cursors, resendMs = RESEND_MS }) => {
    const list = `reenvios ${id}`;
    const given = await cursors.read(list, cursorFields, body.cursor);
    const webhook = await readWebhook(pool, partnerId, id);
    if (webhook === null) return NOT_FOUND;
    if (!webhook.ativo && !body.simular) return { refused: { kind: 'webhookInactive' } };

    // Without `ate` the period ends when it is first asked for, or it would run after what is made meanwhile.
    const until = given?.[0] ?? body.ate ?? (await endOfPresent(pool));
    const many = {
      partnerId,
      webhookId: id,
      from: body.desde,
      until,
      statuses: body.status ?? FAILED,
      events: body.eventos ?? null,
      after: given?.[1] ?? null,
      simulate: body.simular,
      author: { actor, requestId },
    };
    const resent = await resendMany(pool, many, performance.now() + resendMs);
    if ('refused' in resent) return resent;
    const { count, inFlight, next } = resent.ok;
    const proximo_cursor = next === null ? null : await cursors.write(list, [until.toISOString(), next]);
    const result = { simulado: body.simular, entregas: count, em_andamento: inFlight, proximo_cursor };
    return { status: 200, body: result };
  }),
];

/** The first millisecond after the present one of the database. */
async function endOfPresent(pool: HttpDeps['pool']): Promise<Date> {
  return new Date((await pool.run(readClock)).getTime() + 1);
}
