/** A webhook's test: sends `webhook.teste` or an event's example, perhaps edited; answers with the delivery and its attempt. */
import { z } from 'zod';
import { TEST_NAME } from '../../contract/delivery.ts';
import { EVENT_EXAMPLES } from '../../contract/event-examples.ts';
import { EVENTS, SUBSCRIBABLE_NAMES } from '../../contract/events.ts';
import { deliveryWithAttempts } from '../../contract/resources/delivery-resource.ts';
import { awaitOutcome, type Example, makeTestDelivery } from '../../delivery/partner/try-out.ts';
import { answered } from '../answer.ts';
import { route, type Routes } from '../route.ts';
import { check, invalid } from '../validation.ts';

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

export const webhookTestRoutes: Routes = [
  route('POST /v1/webhooks/{id}/teste', 'webhooks:write', {
    summary: {
      pt: `Envia um ${TEST_NAME} assinado a este webhook, ou o exemplo de um evento, e responde com o que aconteceu`,
      en: `Sends a signed ${TEST_NAME}, or the example of an event, to this webhook and answers with what happened`,
    },
    description: TEST_DESCRIPTION,
    body: testOrder,
    isBodyOptional: true,
    answers: {
      ...answered(200, deliveryWithAttempts, {
        pt: 'A entrega de teste, com a sua primeira tentativa',
        en: 'The test delivery, with its first attempt',
      }),
      ...answered(202, deliveryWithAttempts, {
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
