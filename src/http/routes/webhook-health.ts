/** How one webhook fares, and what happened to it; and how all of a partner's deliveries fare. */
import { NOT_FOUND } from '../../contract/refusals.ts';
import { MAX_PENDING_SCANNED, STREAK_OF, webhookHealth } from '../../contract/resources/webhook-health.ts';
import { readWebhookHealth } from '../../delivery/partner/webhook-health.ts';
import { answered } from '../answer.ts';
import { route, type Routes } from '../route.ts';
import { webhookHistory, type WebhookHistory } from '../../contract/resources/webhook.ts';
import { isOperator } from '../../admin/author.ts';
import { readBounded } from '../../admin/bounds.ts';
import { readHistory } from '../../admin/webhooks.ts';
import { readWebhook } from '../../webhooks/webhooks.ts';
import { PAGE_ANSWER } from '../page.ts';
import { beforeLine, historyQuery } from './operator-webhooks.ts';
import { z } from 'zod';
import { summary, WINDOW_NAMES } from '../../contract/resources/summary.ts';
import { id as uuid } from '../../contract/values.ts';
import { readSummary } from '../../delivery/partner/summary.ts';

const DESCRIPTION = {
  pt: `Conta tentativas até 15 s antes de contada_em: ultimas_24h começa numa hora cheia, ultimos_7d à meia-noite de São Paulo, e desde diz quando. p50_ms e p95_ms são os tempos das respostas, quaisquer que sejam, no máximo 10 % acima do valor exato. pendente_mais_antiga é a criada primeiro entre as ${MAX_PENDING_SCANNED} que vencem primeiro; falhas_seguidas e ultima_entregue_em são das ${STREAK_OF} entregas mais novas. estado: ativa; falhando (falha há horas, e recebe uma entrega por vez); suspensa (o serviço a desativou, porque falhava há dias); silenciada (um operador parou os envios, e nada se perde); inativa (desativada pelo parceiro, ou o parceiro está inativo). sem_consentimento: a URL ainda não respondeu 2xx; até lá sai uma entrega por vez, e depois de dez falhas seguidas uma por minuto.`,
  en: `It counts attempts up to 15 s before contada_em: ultimas_24h begins at a full hour, ultimos_7d at midnight in São Paulo, and desde says when. p50_ms and p95_ms are the times of answers, whatever they said, at most 10 % above the exact value. pendente_mais_antiga is the one made first among the ${MAX_PENDING_SCANNED} that are due first; falhas_seguidas and ultima_entregue_em are of the newest ${STREAK_OF} deliveries. estado: ativa (active); falhando (it has failed for hours, and gets one delivery at a time); suspensa (the service deactivated it, because it had failed for days); silenciada (an operator has stopped sending, and nothing is lost); inativa (deactivated by the partner, or the partner is inactive). sem_consentimento: the URL has not answered 2xx yet; until then one delivery is sent at a time, and behind ten failures in a row one a minute.`,
};

export const webhookHealthRoutes: Routes = [
  route('GET /v1/webhooks/{id}/saude', 'webhooks:read', {
    since: '0.2',
    summary: {
      pt: 'A saúde de um webhook: estado, pendente mais antiga, e as tentativas das últimas 24 h e dos últimos 7 dias',
      en: "A webhook's health: its state, its oldest pending delivery, and the attempts of the last 24 h and 7 days",
    },
    description: DESCRIPTION,
    answers: answered(200, webhookHealth, { pt: 'A saúde', en: 'The health' }),
  })(async ({ partnerId, id }, { pool }) => {
    const [health] = await readWebhookHealth(pool, partnerId, [id]);
    return health === undefined ? NOT_FOUND : { status: 200, body: health };
  }),
];

export const webhookHistoryRoutes: Routes = [
  route('GET /v1/webhooks/{id}/historico', 'webhooks:read', {
    summary: {
      pt: 'O que mudou num webhook, quando e por quem, da linha mais nova à mais antiga',
      en: 'What changed of a webhook, when and by whom, the newest line first',
    },
    description: {
      pt: 'Cada linha traz url, eventos e ativo como ficaram. autor é o sub do token, operador (o financiador) ou servico (a política de falhas).',
      en: "Each line brings url, eventos and ativo as they became. autor is the token's sub, operador (the lender) or servico (the policy on failures).",
    },
    query: historyQuery,
    answers: answered(200, webhookHistory, PAGE_ANSWER),
  })(async ({ partnerId, id, query }, { pool, cursors }) => {
    const list = `historico ${id}`;
    const before = await cursors.read(list, beforeLine, query.cursor);
    if ((await readWebhook(pool, partnerId, id)) === null) return NOT_FOUND;
    const { rows, next } = await readBounded(pool, (sql) => readHistory(sql, id, before?.[0] ?? null));
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
  }),
];

export const summaryRoutes: Routes = [
  route('GET /v1/resumo', 'webhooks:read', {
    summary: {
      pt: 'As tentativas de uma janela de tempo, passo a passo, e o que espera; de todos os webhooks ou de um',
      en: 'The attempts of a window of time, step by step, and what waits; of all webhooks or of one',
    },
    description: {
      pt: 'Os tempos vão do commit do evento à chegada, na primeira tentativa. Em 24h e 7d as tentativas são contadas por quarto de hora, até 15 s depois, e os tempos ficam no máximo 10 % acima do valor exato. Nas outras janelas são lidas no máximo as 20.000 tentativas mais novas do parceiro: mostra_desde diz desde quando, se houve mais.',
      en: 'Times are from the commit of the event to its arrival, at the first attempt. In 24h and 7d attempts are counted by the quarter of an hour, up to 15 s later, and times are at most 10 % above the exact value. In the other windows at most the newest 20,000 attempts of the partner are read: mostra_desde says from when on, if there were more.',
    },
    query: z.strictObject({
      janela: z
        .enum(WINDOW_NAMES)
        .default('1h')
        .meta({ text: { pt: 'Sem ela, 1h', en: 'Without it, 1h' } }),
      webhook_id: uuid.optional(),
    }),
    answers: answered(200, summary, { pt: 'O resumo', en: 'The summary' }),
  })(async ({ partnerId, query: { janela, webhook_id } }, { pool }) => ({
    status: 200,
    body: await readSummary(pool, { partnerId, webhookId: webhook_id ?? null }, janela),
  })),
];
