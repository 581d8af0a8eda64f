/** `/v1/webhooks`: created, listed, read, changed, deactivated. */
import * as contract from '../../contract/resources/webhook.ts';
import { z } from 'zod';
import { id as uuid } from '../../contract/values.ts';
import { type Result, NOT_FOUND } from '../../contract/refusals.ts';
import { once } from '../../core/idempotency.ts';
import { readWebhookHealth } from '../../delivery/partner/webhook-health.ts';
import type { Tx } from '../../db/pool.ts';
import type { HttpDeps } from '../deps.ts';
import { createWebhook, listWebhooks, type NewWebhook, readWebhook } from '../../webhooks/webhooks.ts';
import { answered } from '../answer.ts';
import { KEY_ERRORS, route, type Routes } from '../route.ts';
import { cursor, limite } from '../page.ts';
import { targetUrl } from '../target-url.ts';
import { leaveToResume, leaveToSuspend, resumeWhile, suspendWhile } from '../../delivery/partner/activation.ts';
import { changeWebhook, type Wanted } from '../../webhooks/changes.ts';
import type { Subject } from '../../webhooks/history.ts';

const PATH = '/v1/webhooks';
const ONE = `${PATH}/{id}` as const;
/** The time limit for suspending or resuming in one request; each batch takes milliseconds. */
const WORK_MS = 8_000;

/** The answer to a creation as an idempotency key keeps it: without the secret. */
interface KeptWebhook {
  readonly status: 201;
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
    return { ok: { status: 201, body: created.ok.webhook } };
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

const webhookAnswer = answered(200, contract.webhook, {
  pt: 'O webhook, sem secret',
  en: 'The webhook, without secret',
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
      errors: ['LIMITE_DE_WEBHOOKS', ...KEY_ERRORS],
    })(async ({ partnerId, path, actor, requestId, body, idempotencyKey: key }, deps) => {
      const { pool } = deps;
      const begun = await newWebhook(deps, { partnerId, actor, requestId, url: body.url, events: body.eventos });
      if ('refused' in begun) return begun;
      const { make, shownOnce } = begun;
      if (key === null) {
        const created = await pool.transaction(make);
        return 'refused' in created ? created : { status: 201, body: { ...created.ok.body, ...shownOnce } };
      }
      const result = await once(pool, { partnerId, operation: `POST ${path}`, key, body }, make);
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
  route(`GET ${ONE}`, 'webhooks:read', {
    summary: { pt: 'Lê um webhook, ativo ou não', en: 'Reads a webhook, active or not' },
    answers: webhookAnswer,
  })(async ({ partnerId, id }, { pool }) => {
    const webhook = await readWebhook(pool, partnerId, id);
    return webhook === null ? NOT_FOUND : { status: 200, body: webhook };
  }),
  ({ allowInsecure }) =>
    route(`PATCH ${ONE}`, 'webhooks:write', {
      summary: {
        pt: 'Altera url, eventos ou ativo; com ativo e retomar, as entregas suspensas voltam a ser enviadas',
        en: 'Changes url, eventos or ativo; with ativo and retomar, suspended deliveries are sent again',
      },
      body: contract.changeWebhook(targetUrl(allowInsecure)),
      answers: webhookAnswer,
      errors: ['LIMITE_DE_WEBHOOKS'],
    })(async (call, { pool, handshake }) => {
      const { partnerId, id } = call;
      const { url, eventos, ativo, retomar } = call.body;
      if (handshake !== null && url !== undefined && (await readWebhook(pool, partnerId, id))?.url !== url) {
        const consent = await handshake(url);
        if ('refused' in consent) return consent;
      }
      const untilMs = performance.now() + WORK_MS;
      const changed = await apply(pool, call, { url, events: eventos, active: ativo }, retomar);
      if ('refused' in changed) return changed;
      if (ativo === false) await suspendWhile(pool, id, untilMs);
      if (retomar === true) {
        const resumed = await resumeWhile(pool, id, call, untilMs);
        if ('refused' in resumed) return resumed;
      }
      return { status: 200, body: changed.ok };
    }),
  route(`DELETE ${ONE}`, 'webhooks:write', {
    summary: {
      pt: 'Desativa um webhook; o que estava pendente fica suspenso',
      en: 'Deactivates a webhook; what was pending is suspended',
    },
    answers: { 204: { description: { pt: 'Desativado, agora ou antes', en: 'Deactivated, now or before' } } },
  })(async (call, { pool }) => {
    const untilMs = performance.now() + WORK_MS;
    const changed = await apply(pool, call, { active: false });
    if ('refused' in changed) {
      const { refused } = changed;
      if (refused.kind === 'webhookLimit') throw new Error('a deactivation makes no webhook active');
      return { refused };
    }
    await suspendWhile(pool, call.id, untilMs);
    return { status: 204 };
  }),
];

/** Commits the change with a mark for the claims: that deliveries are to be suspended beyond this request's share, or resumed. */
async function apply(pool: HttpDeps['pool'], subject: Subject, wanted: Wanted, resumes = false) {
  return pool.transaction(async (tx) => {
    const changed = await changeWebhook(tx, subject, wanted);
    if ('ok' in changed && wanted.active === false) await leaveToSuspend(tx, subject.id);
    if ('ok' in changed && resumes) await leaveToResume(tx, subject.id);
    return changed;
  });
}
