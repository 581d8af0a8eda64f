/** `GET /v1/webhooks/{id}/saude`: how one webhook fares. */
import { NOT_FOUND } from '../../contract/refusals.ts';
import { PENDING_LOOKED_AT, STREAK_OF, webhookHealth } from '../../contract/resources/webhook-health.ts';
import { readWebhookHealth } from '../../delivery/partner/webhook-health.ts';
import type { HttpDeps } from '../deps.ts';
import type { AddOperation } from '../operation.ts';

const DESCRIPTION = {
  pt: `Conta tentativas, por hora cheia, até poucos segundos antes de contada_em: cada período começa na hora cheia desde. p50_ms e p95_ms são os tempos das respostas, quaisquer que sejam, no máximo 10 % acima do valor exato. pendente_mais_antiga é a criada primeiro entre as ${PENDING_LOOKED_AT} que vencem primeiro; falhas_seguidas e ultima_entregue_em são das ${STREAK_OF} entregas mais novas. estado: ativa; falhando (falha há horas, e recebe uma entrega por vez); suspensa (o serviço a desativou, porque falhava há dias); silenciada (um operador parou os envios, e nada se perde); inativa (desativada pelo parceiro, ou o parceiro está inativo).`,
  en: `It counts attempts, by the full hour, up to a few seconds before contada_em: each period begins at the full hour desde. p50_ms and p95_ms are the times of answers, whatever they said, at most 10 % above the exact value. pendente_mais_antiga is the one made first among the ${PENDING_LOOKED_AT} that are due first; falhas_seguidas and ultima_entregue_em are of the newest ${STREAK_OF} deliveries. estado: ativa (active); falhando (it has failed for hours, and gets one delivery at a time); suspensa (the service deactivated it, because it had failed for days); silenciada (an operator has stopped sending, and nothing is lost); inativa (deactivated by the partner, or the partner is inactive).`,
};

export function addWebhookHealthRoutes(add: AddOperation, { pool }: HttpDeps): void {
  add(
    {
      method: 'get',
      path: '/v1/webhooks/{id}/saude',
      summary: {
        pt: 'A saúde de um webhook: estado, pendente mais antiga, e as tentativas das últimas 24 h e dos últimos 7 dias',
        en: "A webhook's health: its state, its oldest pending delivery, and the attempts of the last 24 h and 7 days",
      },
      description: DESCRIPTION,
      scope: 'webhooks:read',
      answers: { 200: { description: { pt: 'A saúde', en: 'The health' }, schema: webhookHealth } },
      errors: ['NAO_ENCONTRADO'],
    },
    async ({ partnerId, id }) => {
      const [health] = await readWebhookHealth(pool, partnerId, [id]);
      return health === undefined ? NOT_FOUND : { status: 200, body: health };
    },
  );
}
