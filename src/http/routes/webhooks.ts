/** `POST` and `GET /v1/webhooks` (contract, "Endpoints"; decisions, "Webhook registrations"). */
import { z } from 'zod';
import { id as uuid } from '../../contract/values.ts';
import * as contract from '../../contract/webhook.ts';
import { once } from '../../core/idempotency.ts';
import { createWebhook, listWebhooks, type Creation } from '../../webhooks/registrations.ts';
import { ApiError } from '../api-error.ts';
import type { HttpDeps } from '../deps.ts';
import { keyTaken } from '../keyed.ts';
import type { AddOperation } from '../operation.ts';
import { badCursor, cursor, limite } from '../page.ts';
import { targetUrl } from '../target-url.ts';

const PATH = '/v1/webhooks';
const OPERATION = 'POST /v1/webhooks';

/** The id alone: the list is in its order. */
const place = z.tuple([uuid]);

const listQuery = z.strictObject({
  ativo: z.enum(['true', 'false', 'todos']).default('true').meta({ description: 'Sem ele, true: só os ativos' }),
  cursor,
  limite,
});

export function addWebhookRoutes(add: AddOperation, { pool, queries, vault, cursors, allowInsecure }: HttpDeps): void {
  add(
    {
      method: 'post',
      path: PATH,
      summary: 'Registra um webhook; o secret só aparece nesta resposta',
      scope: 'webhooks:write',
      body: contract.createWebhook(targetUrl(allowInsecure)),
      idempotencyKey: 'optional',
      answers: { 201: { description: 'Webhook registrado', schema: contract.createdWebhook } },
      errors: ['LIMITE_DE_WEBHOOKS', 'IDEMPOTENCIA_EM_ANDAMENTO', 'IDEMPOTENCIA_DIVERGENTE'],
    },
    async ({ partnerId, actor, requestId, body, idempotencyKey: key }, c) => {
      const request = { partnerId, actor, requestId, url: body.url, events: body.eventos };
      if (key === null) {
        const created = accepted(await pool.transaction((tx) => createWebhook(tx, vault, request)));
        return c.json({ ...created.webhook, secret: created.secret }, 201);
      }
      // The stored answer must not hold the secret, so it leaves the transaction beside it.
      let shownOnce: { secret?: string } = {};
      const keyed = { partnerId, operation: OPERATION, key, body };
      const result = await once(pool, keyed, async (tx) => {
        const created = accepted(await createWebhook(tx, vault, request));
        shownOnce = { secret: created.secret };
        return { status: 201, location: null, body: created.webhook };
      });
      if (typeof result === 'string') throw keyTaken(result);
      if ('refused' in result) throw new Error('a creation refuses by throwing');
      return c.json({ ...result.answer.body, ...shownOnce }, 201);
    },
  );

  add(
    {
      method: 'get',
      path: PATH,
      summary: 'Lista os webhooks do parceiro, do mais antigo ao mais novo; sem ativo, só os ativos',
      description:
        'Os ativos são no máximo 50 e cabem numa página. Dos outros pode haver mais: X-Proximo-Cursor vem com cada página que não é a última.',
      scope: 'webhooks:read',
      query: listQuery,
      answers: {
        200: {
          description: 'Os webhooks, sem secret',
          schema: z.array(contract.webhook),
          optionalHeaders: { 'X-Proximo-Cursor': 'Só quando há mais: o cursor da próxima página' },
        },
      },
    },
    async ({ partnerId, query: { ativo, cursor: given, limite: limit } }, c) => {
      const list = `webhooks ${partnerId} ${ativo}`;
      const after = given === undefined ? null : await cursors.read(list, place, given);
      if (given !== undefined && after === null) throw badCursor();
      const active = ativo === 'todos' ? null : ativo === 'true';
      const page = await listWebhooks(queries, { partnerId, active, after: after?.[0] ?? null, limit });
      const next = page.next && (await cursors.write(list, [page.next]));
      return c.json(page.webhooks, 200, { ...(next !== null && { 'X-Proximo-Cursor': next }) });
    },
  );
}

/** Throws 409 at the limit, which also undoes the caller's transaction and frees its key. */
function accepted(creation: Creation): Extract<Creation, { ok: true }> {
  if ('ok' in creation) return creation;
  throw new ApiError('LIMITE_DE_WEBHOOKS', `o parceiro já tem ${contract.MAX_ACTIVE_WEBHOOKS} webhooks ativos`);
}
