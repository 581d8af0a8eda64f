/** `POST` and `GET /v1/webhooks` (contract, "Endpoints"; decisions, "Webhook registrations"). */
import { z } from 'zod';
import * as contract from '../../contract/webhook.ts';
import { once } from '../../core/idempotency.ts';
import { parseTarget } from '../../delivery/target.ts';
import { createWebhook, listWebhooks, type Creation } from '../../webhooks/registrations.ts';
import { ApiError } from '../api-error.ts';
import type { HttpDeps } from '../deps.ts';
import { keyTaken } from '../keyed.ts';
import type { AddOperation } from '../operation.ts';

const PATH = '/v1/webhooks';
const OPERATION = 'POST /v1/webhooks';

export function addWebhookRoutes(add: AddOperation, { pool, queries, vault, allowInsecure }: HttpDeps): void {
  add(
    {
      method: 'post',
      path: PATH,
      summary: 'Registra um webhook; o secret só aparece nesta resposta',
      scope: 'webhooks:write',
      body: creation(allowInsecure),
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
      summary: 'Lista os webhooks ativos do parceiro, do mais antigo ao mais novo',
      scope: 'webhooks:read',
      answers: { 200: { description: 'Webhooks ativos, sem secret', schema: z.array(contract.webhook) } },
    },
    async ({ partnerId }, c) => c.json(await listWebhooks(queries, partnerId), 200),
  );
}

/** The contract's body with its URL checked and normalised. */
function creation(allowInsecure: boolean) {
  const url = z.string().transform((text, context) => {
    const target = parseTarget(text, { allowInsecure });
    if ('url' in target) return target.url;
    context.addIssue({ code: 'custom', message: target.refused });
    return z.NEVER;
  });
  return contract.createWebhook.extend({ url });
}

/** Throws 409 at the limit, which also undoes the caller's transaction and frees its key. */
function accepted(creation: Creation): Extract<Creation, { ok: true }> {
  if ('ok' in creation) return creation;
  throw new ApiError('LIMITE_DE_WEBHOOKS', `o parceiro já tem ${contract.MAX_ACTIVE_WEBHOOKS} webhooks ativos`);
}
