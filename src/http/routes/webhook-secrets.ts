/** The secret of a registration: a new one, made to sign at once or later, and the end of the one before. */
import * as contract from '../../contract/webhook.ts';
import { activateSecret, discardSecret, endPreviousSecret, rotateSecret } from '../../webhooks/changes.ts';
import { ApiError, notFound } from '../api-error.ts';
import type { HttpDeps } from '../deps.ts';
import type { AddOperation } from '../operation.ts';
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
        'Sem `vale_em` o novo secret assina já, e o anterior também por 24 h (`X-Webhook-Signature-Previous`). Com `vale_em`, até 24 h à frente, o anterior assina sozinho até lá: guarde antes o novo no receptor, que aceita os dois, e nenhuma entrega é recusada.',
      scope: 'webhooks:write',
      body: contract.rotateSecret,
      isBodyOptional: true,
      answers: { 201: { description: 'O novo secret', schema: contract.rotatedSecret } },
      errors: ERRORS,
    },
    async ({ partnerId, id, actor, requestId, body }, c) => {
      const subject = { partnerId, id, actor, requestId };
      const rotation = await pool.transaction((tx) => rotateSecret(tx, vault, subject, body.vale_em ?? null));
      if (rotation === null) throw notFound();
      if ('outOfRange' in rotation) {
        throw invalid([{ campo: 'vale_em', mensagem: `deve estar entre agora e ${contract.MAX_WAIT_H} h à frente` }]);
      }
      if ('waitsUntil' in rotation) throw newWaits(rotation.waitsUntil);
      if ('previousSignsUntil' in rotation) throw previousStillSigns(rotation.previousSignsUntil);
      const { secret, signsFrom, previousUntil } = rotation;
      const answer = { id, secret, vale_em: signsFrom.toISOString(), anterior_ate: previousUntil.toISOString() };
      return c.json(answer, 201, { 'Cache-Control': 'no-store' });
    },
  );
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
