/** One registration: read, changed, deactivated. */
import * as contract from '../../contract/webhook.ts';
import { insertArrivals } from '../../delivery/arrivals.ts';
import { resumeWhile, suspendWhile } from '../../delivery/suspend.ts';
import { changeWebhook, type Subject, type Wanted } from '../../webhooks/changes.ts';
import { readWebhook } from '../../webhooks/registrations.ts';
import { ApiError, notFound } from '../api-error.ts';
import type { HttpDeps } from '../deps.ts';
import type { AddOperation } from '../operation.ts';
import { targetUrl } from '../target-url.ts';

const PATH = '/v1/webhooks/{id}';
/** How long one request goes on suspending or resuming; the batches behind it take milliseconds each. */
const WORK_MS = 8_000;

const webhookAnswer = { 200: { description: 'O webhook, sem secret', schema: contract.webhook } };

export function addWebhookChangeRoutes(add: AddOperation, deps: HttpDeps): void {
  addReadAndChange(add, deps);
  addDeactivation(add, deps);
}

function addReadAndChange(add: AddOperation, { pool, allowInsecure }: HttpDeps): void {
  add(
    {
      method: 'get',
      path: PATH,
      summary: 'Lê um webhook, ativo ou não',
      scope: 'webhooks:read',
      answers: webhookAnswer,
      errors: ['NAO_ENCONTRADO'],
    },
    async ({ partnerId, id }, c) => {
      const webhook = await readWebhook(pool, partnerId, id);
      if (webhook === null) throw notFound();
      return c.json(webhook, 200);
    },
  );

  add(
    {
      method: 'patch',
      path: PATH,
      summary: 'Altera url, eventos ou ativo; com ativo e retomar, as entregas suspensas voltam a ser enviadas',
      scope: 'webhooks:write',
      body: contract.changeWebhook(targetUrl(allowInsecure)),
      answers: webhookAnswer,
      errors: ['NAO_ENCONTRADO', 'LIMITE_DE_WEBHOOKS'],
    },
    async ({ partnerId, id, actor, requestId, body: { url, eventos, ativo, retomar } }, c) => {
      const untilMs = performance.now() + WORK_MS;
      const webhook = await apply(pool, { partnerId, id, actor, requestId }, { url, events: eventos, active: ativo });
      if (ativo === false) await suspendWhile(pool, id, untilMs);
      if (retomar === true && !(await resumeWhile(pool, id, { actor, requestId }, untilMs))) throw notAllResumed();
      return c.json(webhook, 200);
    },
  );
}

function addDeactivation(add: AddOperation, { pool }: HttpDeps): void {
  add(
    {
      method: 'delete',
      path: PATH,
      summary: 'Desativa um webhook; o que estava pendente fica suspenso',
      scope: 'webhooks:write',
      answers: { 204: { description: 'Desativado, agora ou antes' } },
      errors: ['ERRO_VALIDACAO', 'NAO_ENCONTRADO'],
    },
    async ({ partnerId, id, actor, requestId }, c) => {
      const untilMs = performance.now() + WORK_MS;
      await apply(pool, { partnerId, id, actor, requestId }, { active: false });
      await suspendWhile(pool, id, untilMs);
      return c.body(null, 204);
    },
  );
}

/** Commits the change, and with it a wake row, by which the claims suspend what this request may not get to. */
async function apply(pool: HttpDeps['pool'], subject: Subject, wanted: Wanted) {
  return pool.transaction(async (tx) => {
    const changed = await changeWebhook(tx, subject, wanted);
    if (changed === null) throw notFound();
    if ('limitReached' in changed) {
      throw new ApiError('LIMITE_DE_WEBHOOKS', `o parceiro já tem ${contract.MAX_ACTIVE_WEBHOOKS} webhooks ativos`);
    }
    if (wanted.active === false) await insertArrivals(tx, [subject.id]);
    return changed.webhook;
  });
}

function notAllResumed(): ApiError {
  const message = 'o webhook está ativo, mas ainda há entregas suspensas: repita a mesma requisição';
  return new ApiError('INDISPONIVEL', message, { headers: { 'Retry-After': '1' } });
}
