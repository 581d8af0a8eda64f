/** `GET /v1/webhooks/{id}/saude`: how one webhook fares. */
import { NOT_FOUND } from '../../contract/refusals.ts';
import { PENDING_LOOKED_AT, webhookHealth } from '../../contract/resources/webhook-health.ts';
import { readWebhookHealth } from '../../delivery/partner/webhook-health.ts';
import type { HttpDeps } from '../deps.ts';
import type { AddOperation } from '../operation.ts';

const DESCRIPTION =
  'Conta tentativas, por hora cheia, até poucos segundos antes de contada_em: cada período começa na hora cheia desde. p50_ms e ' +
  'p95_ms são os tempos das respostas, quaisquer que sejam, no máximo 10 % acima do valor exato. pendente_mais_antiga é a ' +
  `criada primeiro entre as ${PENDING_LOOKED_AT} que vencem primeiro. estado: ativa; falhando (falha há horas, e recebe uma entrega por vez); ` +
  'suspensa (o serviço a desativou, porque falhava há dias); silenciada (um operador parou os envios, e nada se perde); inativa (desativada pelo ' +
  'parceiro, ou o parceiro está inativo).';

export function addWebhookHealthRoutes(add: AddOperation, { pool }: HttpDeps): void {
  add(
    {
      method: 'get',
      path: '/v1/webhooks/{id}/saude',
      summary:
        'A saúde de um webhook: estado, pendente mais antiga, e as tentativas das últimas 24 h e dos últimos 7 dias',
      description: DESCRIPTION,
      scope: 'webhooks:read',
      answers: { 200: { description: 'A saúde', schema: webhookHealth } },
      errors: ['NAO_ENCONTRADO'],
    },
    async ({ partnerId, id }) => {
      const health = await readWebhookHealth(pool, partnerId, id);
      return health === null ? NOT_FOUND : { status: 200, body: health };
    },
  );
}
