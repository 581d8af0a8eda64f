/** One registration: read, changed, deactivated, and its secret rotated. */
import * as contract from '../../contract/webhook.ts';
import { once } from '../../core/idempotency.ts';
import type { Tx } from '../../db/pool.ts';
import { insertArrivals } from '../../delivery/arrivals.ts';
import { resumeWhile, suspendWhile } from '../../delivery/suspend.ts';
import {
  changeWebhook,
  endPreviousSecret,
  type Rotation,
  rotateSecret,
  type Subject,
  type Wanted,
} from '../../webhooks/changes.ts';
import { readWebhook } from '../../webhooks/registrations.ts';
import { noteShown, REPEAT_S, showAgain } from '../../webhooks/shown-secret.ts';
import { ApiError, notFound } from '../api-error.ts';
import type { HttpDeps } from '../deps.ts';
import { keyTaken } from '../keyed.ts';
import type { AddOperation } from '../operation.ts';
import { targetUrl } from '../target-url.ts';

const PATH = '/v1/webhooks/{id}';
/** How long one request goes on suspending or resuming; the batches behind it take milliseconds each. */
const WORK_MS = 8_000;

const webhookAnswer = { 200: { description: 'O webhook, sem secret', schema: contract.webhook } };

export function addWebhookChangeRoutes(add: AddOperation, deps: HttpDeps): void {
  addReadAndChange(add, deps);
  addDeactivation(add, deps);
  addSecrets(add, deps);
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

function addSecrets(add: AddOperation, { pool, vault }: HttpDeps): void {
  add(
    {
      method: 'post',
      path: `${PATH}/segredo`,
      summary: 'Troca o secret, que só aparece nesta resposta; o anterior ainda assina por 24 h',
      description: `Com Idempotency-Key, a resposta pode ser repetida com o secret por ${REPEAT_S} s; depois, sem ele.`,
      scope: 'webhooks:write',
      idempotencyKey: 'optional',
      answers: { 201: { description: 'O novo secret', schema: contract.rotatedSecret } },
      errors: [
        'ERRO_VALIDACAO',
        'NAO_ENCONTRADO',
        'TRANSICAO_INVALIDA',
        'IDEMPOTENCIA_EM_ANDAMENTO',
        'IDEMPOTENCIA_DIVERGENTE',
      ],
    },
    async ({ partnerId, id, actor, requestId, idempotencyKey: key }, c) => {
      const rotate = async (tx: Tx) => accepted(await rotateSecret(tx, vault, { partnerId, id, actor, requestId }));
      const answer = (secret: string | null, previousUntil: string) =>
        c.json({ id, ...(secret !== null && { secret }), anterior_ate: previousUntil }, 201, {
          'Cache-Control': 'no-store',
        });
      if (key === null) {
        const { secret, previousUntil } = await pool.transaction(rotate);
        return answer(secret, previousUntil.toISOString());
      }
      // The stored answer must not hold the secret, so it leaves the transaction beside it.
      let fresh: string | null = null;
      const keyed = { partnerId, operation: `POST /v1/webhooks/${id}/segredo`, key, body: null };
      const result = await once(pool, keyed, async (tx) => {
        const { secret, sealed, previousUntil } = await rotate(tx);
        fresh = secret;
        const body = { previousUntil: previousUntil.toISOString(), shown: await noteShown(tx, sealed) };
        return { status: 201, location: null, body };
      });
      if (typeof result === 'string') throw keyTaken(result);
      if ('refused' in result) throw new Error('a rotation refuses by throwing');
      const { previousUntil, shown } = result.answer.body;
      return answer(result.replayed ? await showAgain(pool, vault, id, shown) : fresh, previousUntil);
    },
  );

  add(
    {
      method: 'delete',
      path: `${PATH}/segredo/anterior`,
      summary: 'O secret anterior deixa de assinar já',
      scope: 'webhooks:write',
      answers: { 204: { description: 'Encerrado, agora ou antes' } },
      errors: ['ERRO_VALIDACAO', 'NAO_ENCONTRADO'],
    },
    async ({ partnerId, id, actor, requestId }, c) => {
      const isKnown = await pool.transaction((tx) => endPreviousSecret(tx, { partnerId, id, actor, requestId }));
      if (!isKnown) throw notFound();
      return c.body(null, 204);
    },
  );
}

/** Throws what a rotation may be refused for, which undoes the caller's transaction and frees its key. */
function accepted(rotation: Rotation | null): Extract<Rotation, { secret: string }> {
  if (rotation === null) throw notFound();
  if ('previousSignsUntil' in rotation) throw previousStillSigns(rotation.previousSignsUntil);
  return rotation;
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

function previousStillSigns(until: Date): ApiError {
  return new ApiError(
    'TRANSICAO_INVALIDA',
    `o secret anterior ainda assina até ${until.toISOString()}; encerre-o antes com DELETE …/segredo/anterior`,
  );
}
