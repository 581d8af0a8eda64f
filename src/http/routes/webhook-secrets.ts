/** The secret of a webhook: a new one, made to sign at once or later, and the end of the one before. */
import { NOT_FOUND } from '../../contract/refusals.ts';
import * as contract from '../../contract/resources/webhook.ts';
import { once } from '../../core/idempotency.ts';
import type { Tx } from '../../db/pool.ts';
import {
  activateSecret,
  discardSecret,
  endPreviousSecret,
  type Rotation,
  type RotationRefusal,
  readSecretState,
  rotateSecret,
} from '../../webhooks/secret-changes.ts';
import { noteShown, REPEAT_S, showAgain, type ShownSecret } from '../../webhooks/shown-secret.ts';
import { answered } from '../answer.ts';
import { KEY_ERRORS, route, type Routes } from '../route.ts';

const PATH = '/v1/webhooks/{id}/segredo';
const ERRORS = ['TRANSICAO_INVALIDA'] as const;

export const webhookSecretRoutes: Routes = [
  route(`GET ${PATH}`, 'webhooks:read', {
    summary: {
      pt: 'Em que pé está a troca do secret; nunca o secret',
      en: 'Where the rotation of the secret stands; never the secret',
    },
    description: {
      pt: 'vale_em: um secret novo espera até lá. anterior_ate: o anterior também assina até lá. Sem troca em curso, os dois são null.',
      en: 'vale_em: a new secret waits until then. anterior_ate: the one before signs, too, until then. Without a rotation under way both are null.',
    },
    answers: answered(200, contract.secretState, { pt: 'A troca', en: 'The rotation' }),
  })(async ({ partnerId, id }, { pool }) => {
    const state = await readSecretState(pool, partnerId, id);
    return state === null ? NOT_FOUND : { status: 200, body: state };
  }),
  route(`POST ${PATH}`, 'webhooks:write', {
    summary: {
      pt: 'Troca o secret: o novo só aparece nesta resposta e assina já ou a partir de vale_em',
      en: 'Rotates the secret: the new one is shown in this answer alone, and signs at once or from vale_em on',
    },
    description: {
      pt: `Sem \`vale_em\` o novo secret assina já, e o anterior também por 24 h (\`X-Webhook-Signature-Previous\`). Com \`vale_em\`, até 24 h à frente, o anterior assina sozinho até lá: guarde antes o novo no receptor, que aceita os dois, e nenhuma entrega é recusada. Com Idempotency-Key, a resposta pode ser repetida com o secret por ${REPEAT_S} s; depois, sem ele.`,
      en: `Without \`vale_em\` the new secret signs at once, and the one before beside it for 24 h (\`X-Webhook-Signature-Previous\`). With \`vale_em\`, at most 24 h ahead, the one before signs alone until then: give the new one to the receiver first, which takes both, and no delivery is refused. With an Idempotency-Key the answer can be repeated with the secret for ${REPEAT_S} s; then without it.`,
    },
    body: contract.rotateSecret,
    isBodyOptional: true,
    idempotencyKey: 'optional',
    answers: answered(201, contract.rotatedSecret, { pt: 'O novo secret', en: 'The new secret' }),
    errors: [...ERRORS, ...KEY_ERRORS],
  })(async (call, { pool, vault }) => {
    const { partnerId, id, body, idempotencyKey: key } = call;
    const rotate = (tx: Tx) => rotateSecret(tx, vault, call, body.vale_em ?? null);
    const answer = (secret: string | null, times: Times) =>
      ({ status: 201, body: { id, ...(secret !== null && { secret }), ...times } }) as const;
    if (key === null) {
      const rotated = await pool.transaction(rotate);
      return 'refused' in rotated ? rotated : answer(rotated.ok.secret, timesOf(rotated.ok));
    }
    // The stored answer must not hold the secret, so it leaves the transaction beside it.
    let fresh: string | null = null;
    const keyed = { partnerId, operation: `POST /v1/webhooks/${id}/segredo`, key, body };
    const result = await once<KeptRotation, RotationRefusal>(pool, keyed, async (tx) => {
      const rotated = await rotate(tx);
      if ('refused' in rotated) return rotated;
      fresh = rotated.ok.secret;
      const kept = { times: timesOf(rotated.ok), shown: await noteShown(tx, rotated.ok.encrypted) };
      return { ok: { status: 201, body: kept } };
    });
    if ('refused' in result) return result;
    const { answer: kept, replayed } = result.ok;
    return answer(replayed ? await showAgain(pool, vault, id, kept.body.shown) : fresh, kept.body.times);
  }),
  route(`POST ${PATH}/ativar`, 'webhooks:write', {
    since: '0.2',
    summary: {
      pt: 'O novo secret, que esperava por vale_em, assina já; o anterior também por 24 h',
      en: 'The new secret, which waited for vale_em, signs at once; the one before beside it for 24 h',
    },
    answers: answered(200, contract.activatedSecret, {
      pt: 'O novo secret assina, agora ou antes',
      en: 'The new secret signs, now or before',
    }),
    errors: ERRORS,
  })(async (call, { pool }) => {
    const activated = await pool.transaction((tx) => activateSecret(tx, call));
    if ('refused' in activated) return activated;
    return { status: 200, body: { id: call.id, anterior_ate: activated.ok.previousUntil.toISOString() } };
  }),
  route(`DELETE ${PATH}/novo`, 'webhooks:write', {
    since: '0.2',
    summary: {
      pt: 'Descarta o novo secret que espera por vale_em; o atual continua a assinar',
      en: 'Drops the new secret that waits for vale_em; the present one goes on signing',
    },
    answers: { 204: { description: { pt: 'Nenhum secret novo espera', en: 'No new secret waits' } } },
    errors: ERRORS,
  })(async (call, { pool }) => {
    const discarded = await pool.transaction((tx) => discardSecret(tx, call));
    return 'refused' in discarded ? discarded : { status: 204 };
  }),
  route(`DELETE ${PATH}/anterior`, 'webhooks:write', {
    summary: { pt: 'O secret anterior deixa de assinar já', en: 'The secret before ceases to sign at once' },
    answers: { 204: { description: { pt: 'Encerrado, agora ou antes', en: 'Ended, now or before' } } },
    errors: ERRORS,
  })(async (call, { pool }) => {
    const ended = await pool.transaction((tx) => endPreviousSecret(tx, call));
    return 'refused' in ended ? ended : { status: 204 };
  }),
];

type Times = ReturnType<typeof timesOf>;

/** The answer to a rotation as an idempotency key keeps it: without the secret. */
interface KeptRotation {
  readonly status: 201;
  readonly body: { readonly times: Times; readonly shown: ShownSecret };
}

function timesOf({ signsFrom, previousUntil }: Rotation) {
  return { vale_em: signsFrom.toISOString(), anterior_ate: previousUntil.toISOString() };
}
