/** `GET /v1/operador/fila`: the queue and its pollers. */
import { queue, type Queue } from '../../contract/resources/operator.ts';
import { readBounded } from '../../steering/bounds.ts';
import { type QueueStatus, readQueue } from '../../steering/queue.ts';
import type { HttpDeps } from '../deps.ts';
import type { AddOperation } from '../operation.ts';

const LANES = 50;

const STATES = {
  active: 'ativa',
  falhando: 'falhando',
  saturated: 'saturada',
  muted: 'silenciada',
  inactive: 'inativa',
} as const satisfies Record<QueueStatus['lanes'][number]['state'], Queue['webhooks'][number]['estado']>;

export function addOperatorQueueRoutes(add: AddOperation, { pool }: HttpDeps): void {
  add(
    {
      method: 'get',
      path: '/v1/operador/fila',
      summary: {
        pt: 'A fila: o que espera, há quanto tempo, a que ritmo anda, e que pollers a movem',
        en: 'The queue: what waits, how late it is, how fast it moves, and which pollers move it',
      },
      description: {
        pt: `webhooks traz os ${LANES} mais atrasados. saturada: tem em andamento tudo o que o seu limite deixa, ou o parceiro a sua parte.`,
        en: `webhooks brings the ${LANES} that are latest. saturada: it has in flight what its cap allows, or its partner its share.`,
      },
      scope: 'operador',
      answers: { 200: { description: { pt: 'A fila', en: 'The queue' }, schema: queue } },
    },
    async () => ({ status: 200, body: view(await readBounded(pool, (sql) => readQueue(sql, LANES))) }),
  );
}

function view(status: QueueStatus): Queue {
  const { attempts, delivered, failed } = status.perSecond;
  return {
    em: status.at.toISOString(),
    pendentes: status.pending,
    contagem_exata: status.isExact,
    em_andamento: status.inFlight,
    espera_mais_longa_s: status.oldestDueS,
    silenciados: status.muted,
    falhando: status.falhando,
    por_segundo: { tentativas: attempts, entregues: delivered, falhas: failed },
    webhooks: status.lanes.map(({ webhook, partner, url, state, pending, inFlight, dueForS }) => ({
      webhook_id: webhook,
      parceiro: partner,
      url,
      estado: STATES[state],
      pendentes: pending,
      em_andamento: inFlight,
      vencida_ha_s: dueForS,
    })),
    pollers: status.pollers.map(({ poller, inFlight, attemptsLastMinute, seenAgoS }) => ({
      poller,
      em_andamento: inFlight,
      tentativas_ultimo_minuto: attemptsLastMinute,
      visto_ha_s: seenAgoS,
    })),
  };
}
