import { z } from 'zod';
import { id as uuid } from '../../contract/values.ts';
import type { Result } from '../../contract/refusals.ts';
import * as contract from '../../contract/resources/webhook.ts';
import { once } from '../../core/idempotency.ts';
import { readWebhookHealth } from '../../delivery/partner/webhook-health.ts';
import type { Tx } from '../../db/pool.ts';
import type { HttpDeps } from '../deps.ts';
import { createWebhook, listWebhooks, type NewWebhook } from '../../webhooks/webhooks.ts';
import { answered } from '../answer.ts';
import { route, type Routes } from '../route.ts';
import { cursor, limite } from '../page.ts';
import { targetUrl } from '../target-url.ts';

const PATH = '/v1/webhooks';
const OPERATION = 'POST /v1/webhooks';

/** The answer to a creation as an idempotency key keeps it: without the secret. */
interface KeptWebhook {
  readonly status: 201;
  readonly location: null;
  readonly body: contract.WebhookResource;
}

/** Makes a webhook in a transaction, once its receiver agreed where that is demanded. The secret leaves beside the answer. */
export async function newWebhook({ vault, handshake }: Pick<HttpDeps, 'vault' | 'handshake'>, request: NewWebhook) {
  const consent = await handshake?.(request.url);
  if (consent !== undefined && 'refused' in consent) return consent;
  const shownOnce: { secret?: string } = {};
  const make = async (tx: Tx): Promise<Result<KeptWebhook, 'webhookLimit' | 'keyRetired'>> => {
    const created = await createWebhook(tx, vault, request);
    if ('refused' in created) return created;
    shownOnce.secret = created.ok.secret;
    return { ok: { status: 201, location: null, body: created.ok.webhook } };
  };
  return { make, shownOnce };
}

/** The id alone: the list is in its order. */
const cursorFields = z.tuple([uuid]);

const listQuery = z.strictObject({
  ativo: z
    .enum(['true', 'false', 'todos'])
    .default('true')
    .meta({ text: { pt: 'Sem ele, true: só os ativos', en: 'Without it, true: the active ones alone' } }),
  incluir: z
    .enum(['saude'])
    .optional()
    .meta({ text: { pt: 'saude: com a saúde de cada um', en: 'saude: with the health of each' } }),
  cursor,
  limite,
});

export const webhookRoutes: Routes = [
  ({ allowInsecure }) =>
    route(`POST ${PATH}`, 'webhooks:write', {
      summary: {
        pt: 'Registra um webhook; o secret só aparece nesta resposta',
        en: 'Registers a webhook; the secret is shown in this answer alone',
      },
      body: contract.createWebhook(targetUrl(allowInsecure)),
      idempotencyKey: 'optional',
      answers: answered(201, contract.createdWebhook, { pt: 'Webhook registrado', en: 'The webhook was registered' }),
      errors: ['LIMITE_DE_WEBHOOKS', 'IDEMPOTENCIA_EM_ANDAMENTO', 'IDEMPOTENCIA_DIVERGENTE'],
    })(async ({ partnerId, actor, requestId, body, idempotencyKey: key }, deps) => {
      const { pool } = deps;
      const begun = await newWebhook(deps, { partnerId, actor, requestId, url: body.url, events: body.eventos });
      if ('refused' in begun) return begun;
      const { make, shownOnce } = begun;
      if (key === null) {
        const created = await pool.transaction(make);
        return 'refused' in created ? created : { status: 201, body: { ...created.ok.body, ...shownOnce } };
      }
      const result = await once(pool, { partnerId, operation: OPERATION, key, body }, make);
      if ('refused' in result) return result;
      return { status: 201, body: { ...result.ok.answer.body, ...shownOnce } };
    }),
  route(`GET ${PATH}`, 'webhooks:read', {
    summary: {
      pt: 'Lista os webhooks do parceiro, do mais antigo ao mais novo; sem ativo, só os ativos',
      en: "Lists the partner's webhooks, the oldest first; without ativo, the active ones",
    },
    description: {
      pt: 'Os ativos são no máximo 50 e cabem numa página. Dos outros pode haver mais: X-Proximo-Cursor vem com cada página que não é a última.',
      en: 'The active ones are at most 50 and fit one page. There may be more of the others: X-Proximo-Cursor comes with every page but the last.',
    },
    query: listQuery,
    answers: {
      200: {
        description: { pt: 'Os webhooks, sem secret', en: 'The webhooks, without secret' },
        schema: z.array(contract.listedWebhook),
        optionalHeaders: {
          'X-Proximo-Cursor': {
            pt: 'Só quando há mais: o cursor da próxima página',
            en: 'Only where there is more: the cursor of the next page',
          },
        },
      },
    },
  })(async ({ partnerId, query: { ativo, incluir, cursor: given, limite: limit } }, { pool, cursors }) => {
    const list = `webhooks ${partnerId} ${ativo}`;
    const after = await cursors.read(list, cursorFields, given);
    const active = ativo === 'todos' ? null : ativo === 'true';
    const page = await listWebhooks(pool, { partnerId, active, after: after?.[0] ?? null, limit });
    const next = page.next && (await cursors.write(list, [page.next]));
    const headers = next === null ? {} : { 'X-Proximo-Cursor': next };
    if (incluir === undefined) return { status: 200, body: page.webhooks, headers };
    const ids = page.webhooks.map(({ id }) => id);
    const health = new Map((await readWebhookHealth(pool, partnerId, ids)).map((one) => [one.webhook_id, one]));
    const body = page.webhooks.map((webhook) => Object.assign(webhook, { saude: health.get(webhook.id) }));
    return { status: 200, body, headers };
  }),
];
