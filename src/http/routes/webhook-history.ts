/** `GET /v1/webhooks/{id}/historico`: what happened to a webhook, for its partner. */
import { NOT_FOUND } from '../../contract/refusals.ts';
import { webhookHistory, type WebhookHistory } from '../../contract/resources/webhook.ts';
import { isOperator } from '../../steering/author.ts';
import { readBounded } from '../../steering/bounds.ts';
import { readHistory } from '../../steering/webhooks.ts';
import { readWebhook } from '../../webhooks/webhooks.ts';
import type { HttpDeps } from '../deps.ts';
import type { AddOperation } from '../operation.ts';
import { readCursor } from '../page.ts';
import { beforeLine, historyQuery } from './operator-webhooks.ts';

export function addWebhookHistoryRoutes(add: AddOperation, { pool, cursors }: HttpDeps): void {
  add(
    {
      method: 'get',
      path: '/v1/webhooks/{id}/historico',
      summary: {
        pt: 'O que mudou num webhook, quando e por quem, da linha mais nova à mais antiga',
        en: 'What changed of a webhook, when and by whom, the newest line first',
      },
      description: {
        pt: 'Cada linha traz url, eventos e ativo como ficaram. autor é o sub do token, operador (o financiador) ou servico (a política de falhas).',
        en: "Each line brings url, eventos and ativo as they became. autor is the token's sub, operador (the lender) or servico (the policy on failures).",
      },
      scope: 'webhooks:read',
      query: historyQuery,
      answers: {
        200: {
          description: { pt: 'Uma página, e o cursor da próxima', en: 'A page, and the cursor of the next' },
          schema: webhookHistory,
        },
      },
      errors: ['NAO_ENCONTRADO'],
    },
    async ({ partnerId, id, query }) => {
      const list = `historico ${id}`;
      const before = await readCursor(cursors, list, beforeLine, query.cursor);
      if ('refused' in before) return before;
      if ((await readWebhook(pool, partnerId, id)) === null) return NOT_FOUND;
      const { rows, next } = await readBounded(pool, (sql) => readHistory(sql, id, before.ok?.[0] ?? null));
      // Who of the lender's own people it was, and why, is the lender's own.
      const itens = rows.map(({ changedAt, change, actor, url, events, active }) => ({
        mudou_em: changedAt.toISOString(),
        mudanca: change,
        autor: isOperator(actor) ? 'operador' : actor,
        url,
        eventos: events as WebhookHistory['itens'][number]['eventos'],
        ativo: active,
      }));
      return { status: 200, body: { itens, proximo_cursor: next && (await cursors.write(list, [next])) } };
    },
  );
}
