/** `GET /v1/resumo`: how a partner's deliveries fare, of all its webhooks or of one. */
import { z } from 'zod';
import { summary, WINDOW_NAMES } from '../../contract/resources/summary.ts';
import { id as uuid } from '../../contract/values.ts';
import { readSummary } from '../../delivery/partner/summary.ts';
import { answered } from '../answer.ts';
import { route, type Routes } from '../route.ts';

export const summaryRoutes: Routes = [
  route('GET /v1/resumo', 'webhooks:read', {
    summary: {
      pt: 'As tentativas de uma janela de tempo, passo a passo, e o que espera; de todos os webhooks ou de um',
      en: 'The attempts of a window of time, step by step, and what waits; of all webhooks or of one',
    },
    description: {
      pt: 'Os tempos vão do commit do evento à chegada, na primeira tentativa. Em 24h e 7d as tentativas são contadas por quarto de hora, alguns segundos depois, e os tempos ficam no máximo 10 % acima do valor exato. Nas outras janelas são lidas no máximo as 20.000 tentativas mais novas do parceiro: mostra_desde diz desde quando, se houve mais.',
      en: 'Times are from the commit of the event to its arrival, at the first attempt. In 24h and 7d attempts are counted by the quarter of an hour, some seconds later, and times are at most 10 % above the exact value. In the other windows at most the newest 20,000 attempts of the partner are read: mostra_desde says from when on, if there were more.',
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
