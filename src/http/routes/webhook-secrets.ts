/** The secret of a registration: a new one, made to sign at once or later, and the end of the one before. */
import * as contract from '../../contract/webhook.ts';
import { once } from '../../core/idempotency.ts';
import type { Tx } from '../../db/pool.ts';
import {
  activateSecret,
  discardSecret,
  endPreviousSecret,
  type Rotation,
  rotateSecret,
} from '../../webhooks/changes.ts';
import { noteShown, REPEAT_S, showAgain } from '../../webhooks/shown-secret.ts';
import { ApiError, notFound } from '../api-error.ts';
import type { HttpDeps } from '../deps.ts';
import type { AddOperation } from '../operation.ts';
import { keyTaken } from '../keyed.ts';
import { invalid } from '../validation.ts';

const PATH = '/v1/webhooks/{id}/segredo';
const ERRORS = ['NAO_ENCONTRADO', 'TRANSICAO_INVALIDA'] as const;

export function addWebhookSecretRoutes(add: AddOperation, deps: HttpDeps): void {
  addRotation(add, deps);
  addActivation(add, deps);
  addEnds(add, deps);
}

function addRotation(add: AddOperation, { pool, vault }: HttpDeps): void {
  add(
    {
      method: 'post',
      path: PATH,
      summary: 'Troca o secret: o novo só aparece nesta resposta e assina já ou a partir de vale_em',
      description:
        'Sem `vale_em` o novo secret assina já, e o anterior também por 24 h (`X-Webhook-Signature-Previous`). Com `vale_em`, até 24 h à frente, o anterior assina sozinho até lá: guarde antes o novo no receptor, que aceita os dois, e nenhuma entrega é recusada. ' +
        `Com Idempotency-Key, a resposta pode ser repetida com o secret por ${REPEAT_S} s; depois, sem ele.`,
      scope: 'webhooks:write',
      body: contract.rotateSecret,
      isBodyOptional: true,
      idempotencyKey: 'optional',
      answers: { 201: { description: 'O novo secret', schema: contract.rotatedSecret } },
      errors: [...ERRORS, 'IDEMPOTENCIA_EM_ANDAMENTO', 'IDEMPOTENCIA_DIVERGENTE'],
    },
    async ({ partnerId, id, actor, requestId, body, idempotencyKey: key }, c) => {
      const subject = { partnerId, id, actor, requestId };
      const rotate = async (tx: Tx) => accepted(await rotateSecret(tx, vault, subject, body.vale_em ?? null));
      const answer = (secret: string | null, times: Times) =>
        c.json({ id, ...(secret !== null && { secret }), ...times }, 201, { 'Cache-Control': 'no-store' });
      if (key === null) {
        const rotation = await pool.transaction(rotate);
        return answer(rotation.secret, timesOf(rotation));
      }
      // The stored answer must not hold the secret, so it leaves the transaction beside it.
      let fresh: string | null = null;
      const keyed = { partnerId, operation: `POST /v1/webhooks/${id}/segredo`, key, body };
      const result = await once(pool, keyed, async (tx) => {
        const rotation = await rotate(tx);
        fresh = rotation.secret;
        const kept = { times: timesOf(rotation), shown: await noteShown(tx, rotation.sealed) };
        return { status: 201, location: null, body: kept };
      });
      if (typeof result === 'string') throw keyTaken(result);
      if ('refused' in result) throw new Error('a rotation refuses by throwing');
      const { times, shown } = result.answer.body;
      return answer(result.replayed ? await showAgain(pool, vault, id, shown) : fresh, times);
    },
  );
}

type Rotated = Extract<Rotation, { secret: string }>;

interface Times {
  readonly vale_em: string;
  readonly anterior_ate: string;
}

function timesOf({ signsFrom, previousUntil }: Rotated): Times {
  return { vale_em: signsFrom.toISOString(), anterior_ate: previousUntil.toISOString() };
}

/** Throws what a rotation may be refused for, which undoes the caller's transaction and frees its key. */
function accepted(rotation: Rotation | null): Rotated {
  if (rotation === null) throw notFound();
  if ('outOfRange' in rotation) {
    throw invalid([{ campo: 'vale_em', mensagem: `deve estar entre agora e ${contract.MAX_WAIT_H} h à frente` }]);
  }
  if ('waitsUntil' in rotation) throw newWaits(rotation.waitsUntil);
  if ('previousSignsUntil' in rotation) throw previousStillSigns(rotation.previousSignsUntil);
  return rotation;
}

function addActivation(add: AddOperation, { pool }: HttpDeps): void {
  add(
    {
      method: 'post',
      path: `${PATH}/ativar`,
      summary: 'O novo secret, que esperava por vale_em, assina já; o anterior também por 24 h',
      scope: 'webhooks:write',
      answers: { 200: { description: 'O novo secret assina, agora ou antes', schema: contract.activatedSecret } },
      errors: ERRORS,
    },
    async ({ partnerId, id, actor, requestId }, c) => {
      const activated = await pool.transaction((tx) => activateSecret(tx, { partnerId, id, actor, requestId }));
      if (activated === null) throw notFound();
      if (activated === 'none') throw noNewSecret();
      return c.json({ id, anterior_ate: activated.previousUntil.toISOString() }, 200);
    },
  );
}

function addEnds(add: AddOperation, { pool }: HttpDeps): void {
  add(
    {
      method: 'delete',
      path: `${PATH}/novo`,
      summary: 'Descarta o novo secret que espera por vale_em; o atual continua a assinar',
      scope: 'webhooks:write',
      answers: { 204: { description: 'Nenhum secret novo espera' } },
      errors: ERRORS,
    },
    async ({ partnerId, id, actor, requestId }, c) => {
      const discarded = await pool.transaction((tx) => discardSecret(tx, { partnerId, id, actor, requestId }));
      if (discarded === null) throw notFound();
      if (discarded === 'signs') throw newSigns();
      return c.body(null, 204);
    },
  );

  add(
    {
      method: 'delete',
      path: `${PATH}/anterior`,
      summary: 'O secret anterior deixa de assinar já',
      scope: 'webhooks:write',
      answers: { 204: { description: 'Encerrado, agora ou antes' } },
      errors: ERRORS,
    },
    async ({ partnerId, id, actor, requestId }, c) => {
      const ended = await pool.transaction((tx) => endPreviousSecret(tx, { partnerId, id, actor, requestId }));
      if (ended === null) throw notFound();
      if (ended !== 'ended') throw previousSignsAlone(ended.waitsUntil);
      return c.body(null, 204);
    },
  );
}

function refused(message: string): ApiError {
  return new ApiError('TRANSICAO_INVALIDA', message);
}

function previousStillSigns(until: Date): ApiError {
  return refused(
    `o secret anterior ainda assina até ${until.toISOString()}; encerre-o antes com DELETE …/segredo/anterior`,
  );
}

function newWaits(until: Date): ApiError {
  return refused(
    `um secret novo espera até ${until.toISOString()}; ative-o com POST …/segredo/ativar ou descarte-o com DELETE …/segredo/novo`,
  );
}

function previousSignsAlone(until: Date): ApiError {
  return refused(
    `o secret atual assina sozinho até ${until.toISOString()}; ative antes o novo com POST …/segredo/ativar`,
  );
}

function noNewSecret(): ApiError {
  return refused('nenhum secret novo espera; peça um com POST …/segredo');
}

function newSigns(): ApiError {
  return refused('o secret novo já assina; troque-o com POST …/segredo');
}
