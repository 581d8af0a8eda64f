/** `/v1/operador`: the queue and its pollers, why one delivery waits, and the jobs. */
import { NOT_FOUND } from '../../contract/refusals.ts';
import { jobs, operatorWait, queue, type Queue } from '../../contract/resources/operator.ts';
import { explainDelivery } from '../../delivery/partner/explain.ts';
import { readBounded } from '../../admin/bounds.ts';
import { readJobs } from '../../admin/jobs.ts';
import { type QueueStatus, readQueue } from '../../admin/queue.ts';
import { answered } from '../answer.ts';
import { route, type Routes } from '../route.ts';

const LANES = 50;

const STATES = {
  active: 'ativa',
  falhando: 'falhando',
  saturated: 'saturada',
  muted: 'silenciada',
  inactive: 'inativa',
} as const satisfies Record<QueueStatus['lanes'][number]['state'], Queue['webhooks'][number]['estado']>;

export const operatorQueueRoutes: Routes = [
  route('GET /v1/operador/fila', 'operador', {
    summary: {
      pt: 'A fila: o que espera, há quanto tempo, a que ritmo anda, e que pollers a movem',
      en: 'The queue: what waits, how late it is, how fast it moves, and which pollers move it',
    },
    description: {
      pt: `webhooks traz os ${LANES} mais atrasados. saturada: tem em andamento tudo o que o seu limite deixa, ou o parceiro a sua parte.`,
      en: `webhooks brings the ${LANES} that are latest. saturada: it has in flight what its cap allows, or its partner its share.`,
    },
    answers: answered(200, queue, { pt: 'A fila', en: 'The queue' }),
  })(async (_, { pool, registry }) => {
    const status = await readBounded(pool, (sql) => readQueue(sql, LANES));
    return { status: 200, body: view(status, registry !== null) };
  }),
  route('GET /v1/operador/entregas/{id}/espera', 'operador', {
    summary: {
      pt: 'Por que uma entrega espera, em uma frase, com o que o prova',
      en: 'Why a delivery waits, in one sentence, with what proves it',
    },
    description: {
      pt: 'em_andamento e janela são do webhook: quantas entregas estão sendo enviadas, e quantas ele recebe agora ao mesmo tempo.',
      en: 'em_andamento and janela are those of the webhook: how many deliveries are being sent, and how many it gets at once now.',
    },
    answers: answered(200, operatorWait, { pt: 'O motivo', en: 'The reason' }),
  })(async ({ id }, { pool }) => {
    const found = await pool.run((sql) => explainDelivery(sql, id, null));
    if (found === null) return NOT_FOUND;
    const { facts } = found;
    const body = {
      entrega_id: id,
      webhook_id: facts.webhookId,
      parceiro_id: facts.partnerId,
      status: facts.status,
      motivo: found.reason,
      explicacao: found.pt,
      explicacao_en: found.en,
      proxima_tentativa_em: isoOf(facts.nextAttemptAt),
      vencida_ha_s: Math.max(facts.dueS, 0),
      falhas: facts.failures,
      ultimo_resultado: facts.lastOutcome,
      reivindicacao: facts.claimedBy,
      reivindicada_ha_s: facts.claimedS,
      em_andamento: facts.inFlight,
      janela: facts.window,
      silenciado_desde: isoOf(facts.mutedAt),
      falhando_desde: isoOf(facts.failingSince),
      pollers_vivos: facts.livingPollers,
    };
    return { status: 200, body };
  }),
  route('GET /v1/operador/tarefas', 'operador', {
    summary: {
      pt: 'O que o serviço faz sozinho: quando, e como terminou da última vez',
      en: 'What the service does by itself: when, and how it ended last',
    },
    answers: answered(200, jobs, { pt: 'As tarefas', en: 'The jobs' }),
  })(async (_, { pool }) => {
    const itens = (await pool.run(readJobs)).map((job) => ({
      tarefa: job.name,
      agenda: job.schedule,
      proxima_em: isoOf(job.nextAt),
      em_andamento: job.isRunning,
      terminou_em: isoOf(job.endedAt),
      duracao_s: job.durationS,
      codigo_saida: job.exitCode,
      resultado: job.result,
      atrasada_s: job.overdueS,
    }));
    return { status: 200, body: { itens } };
  }),
];

const isoOf = (at: Date | null) => at?.toISOString() ?? null;

function view(status: QueueStatus, hasRegistry: boolean): Queue {
  const { attempts, delivered, failed } = status.perSecond;
  return {
    em: status.at.toISOString(),
    pendentes: status.pending,
    contagem_exata: status.isExact,
    em_andamento: status.inFlight,
    espera_mais_longa_s: status.oldestDueS,
    silenciados: status.muted,
    falhando: status.falhando,
    registry_configurado: hasRegistry,
    por_segundo: { tentativas: attempts, entregues: delivered, falhas: failed },
    webhooks: status.lanes.map(({ webhook, partner, url, state, pending, inFlight, dueForS, fault }) => ({
      webhook_id: webhook,
      parceiro: partner,
      url,
      estado: STATES[state],
      pendentes: pending,
      em_andamento: inFlight,
      vencida_ha_s: dueForS,
      falha_nossa: fault,
    })),
    certificados: status.certificates.map(({ setting, validUntil }) => ({
      arquivo: setting,
      valido_ate: validUntil.toISOString(),
    })),
    pollers: status.pollers.map(({ poller, inFlight, attemptsLastMinute, seenAgoS }) => ({
      poller,
      em_andamento: inFlight,
      tentativas_ultimo_minuto: attemptsLastMinute,
      visto_ha_s: seenAgoS,
    })),
  };
}
