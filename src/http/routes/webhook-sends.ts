/**
 * What a partner has sent to one webhook: deliveries again, and a test, `webhook.teste` or an event's example, perhaps edited, whose
 * answer is the delivery with its attempt.
 */
import * as contract from '../../contract/resources/delivery-resource.ts';
import { z } from 'zod';
import { NOT_FOUND } from '../../contract/refusals.ts';
import { SUBSCRIBABLE_NAMES, EVENTS } from '../../contract/events.ts';
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
import { TEST_NAME } from '../../contract/delivery.ts';
import { EVENT_EXAMPLES } from '../../contract/event-examples.ts';
import { awaitOutcome, type Example, makeTestDelivery } from '../../delivery/partner/try-out.ts';
import { check, invalid } from '../validation.ts';

/** The default time limit of one request; the caller continues with the answer's cursor. */
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

/** The first millisecond after the present one of the database. */
async function endOfPresent(pool: HttpDeps['pool']): Promise<Date> {
  return new Date((await pool.run(readClock)).getTime() + 1);
}

/** An attempt takes 30 s at most, and is claimed and recorded around it. */
const TEST_WAIT_MS = 35_000;

const testOrder = z.strictObject({
  evento: z.enum(SUBSCRIBABLE_NAMES).optional(),
  data: z.looseObject({}).optional(),
});

const TEST_DESCRIPTION = {
  pt: `Com evento, envia o exemplo dele, com o seu nome em X-Webhook-Event e em evento, inscrito ou não o webhook; com data, o exemplo como o parceiro o mudou: ids e números ficam os do exemplo, que nenhum empréstimo tem. Toda entrega de teste traz X-Webhook-Test: 1, não traz X-Webhook-Loan-Version e é tentada uma vez. O registro a guarda como ${TEST_NAME}: nem o fluxo de eventos nem o balanço a contam.`,
  en: `With evento, sends that event's example, under its name in X-Webhook-Event and in evento, whether the webhook subscribes to it or not; with data, the example as the partner edited it: ids and numbers stay the example's, which no loan has. Every test bears X-Webhook-Test: 1 and no X-Webhook-Loan-Version, and is tried once. The log keeps it as ${TEST_NAME}: neither the feed nor the balance counts it.`,
};

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
  route('POST /v1/webhooks/{id}/teste', 'webhooks:write', {
    summary: {
      pt: `Envia um ${TEST_NAME} assinado a este webhook, ou o exemplo de um evento, e responde com o que aconteceu`,
      en: `Sends a signed ${TEST_NAME}, or the example of an event, to this webhook and answers with what happened`,
    },
    description: TEST_DESCRIPTION,
    body: testOrder,
    isBodyOptional: true,
    answers: {
      ...answered(200, contract.deliveryWithAttempts, {
        pt: 'A entrega de teste, com a sua primeira tentativa',
        en: 'The test delivery, with its first attempt',
      }),
      ...answered(202, contract.deliveryWithAttempts, {
        pt: 'A entrega de teste, ainda sem resultado',
        en: 'The test delivery, without an outcome yet',
      }),
    },
    errors: ['TRANSICAO_INVALIDA'],
  })(async ({ partnerId, id, actor, requestId, body }, { pool, testWaitMs = TEST_WAIT_MS }) => {
    const example = exampleFor(body);
    const made = await pool.transaction((tx) => makeTestDelivery(tx, partnerId, id, example, { actor, requestId }));
    if ('refused' in made) return made;
    const { delivery, isOver } = await awaitOutcome(pool, partnerId, made.ok.id, testWaitMs);
    return { status: isOver ? 200 : 202, body: delivery };
  }),
];

/** The fields that hold an id or a number. A test keeps the example's, which belong to nothing that exists. */
const NAMES_A_THING = /(^|_)id$|^numero(_emprestimo)?$/;

/** Null: the test itself. Throws 400 for data that are not the event's. */
function exampleFor({ evento, data }: z.infer<typeof testOrder>): Example | null {
  if (evento === undefined) {
    if (data !== undefined) throw invalid([{ campo: 'evento', mensagem: 'é obrigatório quando há data' }]);
    return null;
  }
  const example: Readonly<Record<string, unknown>> = EVENT_EXAMPLES[evento];
  const checked = check(z.object({ data: EVENTS[evento].data }), { data: data ?? example }, 'data');
  if ('details' in checked) throw invalid(checked.details);
  const sent: Readonly<Record<string, unknown>> = checked.data.data;
  const taken = Object.keys(example).filter((name) => NAMES_A_THING.test(name) && sent[name] !== example[name]);
  if (taken.length > 0) {
    throw invalid(
      taken.map((name) => ({
        campo: `data.${name}`,
        mensagem: `num teste, deve ser o do exemplo: ${String(example[name])}`,
      })),
    );
  }
  return { event: evento, data: sent };
}
