/** One webhook: read, changed, deactivated. */
import { NOT_FOUND } from '../../contract/refusals.ts';
import * as contract from '../../contract/resources/webhook.ts';
import { leaveToResume, leaveToSuspend, resumeWhile, suspendWhile } from '../../delivery/partner/activation.ts';
import { changeWebhook, type Wanted } from '../../webhooks/changes.ts';
import type { Subject } from '../../webhooks/history.ts';
import { readWebhook } from '../../webhooks/webhooks.ts';
import { answered } from '../answer.ts';
import type { HttpDeps } from '../deps.ts';
import { route, type Routes } from '../route.ts';
import { targetUrl } from '../target-url.ts';

const PATH = '/v1/webhooks/{id}';
/** How long one request goes on suspending or resuming; the batches behind it take milliseconds each. */
const WORK_MS = 8_000;

const webhookAnswer = answered(200, contract.webhook, {
  pt: 'O webhook, sem secret',
  en: 'The webhook, without secret',
});

export const webhookChangeRoutes: Routes = [
  route(`GET ${PATH}`, 'webhooks:read', {
    summary: { pt: 'Lê um webhook, ativo ou não', en: 'Reads a webhook, active or not' },
    answers: webhookAnswer,
  })(async ({ partnerId, id }, { pool }) => {
    const webhook = await readWebhook(pool, partnerId, id);
    return webhook === null ? NOT_FOUND : { status: 200, body: webhook };
  }),
  ({ allowInsecure }) =>
    route(`PATCH ${PATH}`, 'webhooks:write', {
      summary: {
        pt: 'Altera url, eventos ou ativo; com ativo e retomar, as entregas suspensas voltam a ser enviadas',
        en: 'Changes url, eventos or ativo; with ativo and retomar, suspended deliveries are sent again',
      },
      body: contract.changeWebhook(targetUrl(allowInsecure)),
      answers: webhookAnswer,
      errors: ['LIMITE_DE_WEBHOOKS'],
    })(async ({ partnerId, id, actor, requestId, body: { url, eventos, ativo, retomar } }, { pool, handshake }) => {
      if (handshake !== null && url !== undefined && (await readWebhook(pool, partnerId, id))?.url !== url) {
        const consent = await handshake(url);
        if ('refused' in consent) return consent;
      }
      const untilMs = performance.now() + WORK_MS;
      const wanted = { url, events: eventos, active: ativo };
      const changed = await apply(pool, { partnerId, id, actor, requestId }, wanted, retomar);
      if ('refused' in changed) return changed;
      if (ativo === false) await suspendWhile(pool, id, untilMs);
      if (retomar === true) {
        const resumed = await resumeWhile(pool, id, { actor, requestId }, untilMs);
        if ('refused' in resumed) return resumed;
      }
      return { status: 200, body: changed.ok };
    }),
  route(`DELETE ${PATH}`, 'webhooks:write', {
    summary: {
      pt: 'Desativa um webhook; o que estava pendente fica suspenso',
      en: 'Deactivates a webhook; what was pending is suspended',
    },
    answers: { 204: { description: { pt: 'Desativado, agora ou antes', en: 'Deactivated, now or before' } } },
  })(async ({ partnerId, id, actor, requestId }, { pool }) => {
    const untilMs = performance.now() + WORK_MS;
    const changed = await apply(pool, { partnerId, id, actor, requestId }, { active: false });
    if ('refused' in changed) {
      const { refused } = changed;
      if (refused.kind === 'webhookLimit') throw new Error('a deactivation makes no webhook active');
      return { refused };
    }
    await suspendWhile(pool, id, untilMs);
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
