/** An attempt as auditors read it. */
import type { AuditedAttempt } from '../../audit/attempts.ts';
import type { AuditedAttemptResource } from '../../contract/audit-resource.ts';
import { readableAnswer } from '../../delivery/answer-text.ts';

export function attemptView(attempt: AuditedAttempt): AuditedAttemptResource {
  return {
    entrega_id: attempt.deliveryId,
    numero: attempt.number,
    atrasada: attempt.late,
    parceiro_id: attempt.partnerId,
    webhook_id: attempt.webhookId,
    evento_id: attempt.eventId,
    evento: attempt.event as AuditedAttemptResource['evento'],
    emprestimo_id: attempt.loanId,
    inicio: attempt.startedAt.toISOString(),
    registrada_em: attempt.recordedAt.toISOString(),
    duracao_ms: attempt.durationMs,
    resultado: attempt.outcome,
    status_http: attempt.statusCode,
    url: attempt.url,
    endereco: attempt.address,
    chave_id: attempt.keyId,
    poller: attempt.poller,
    erro: attempt.error,
    resposta: readableAnswer(attempt.answer),
  };
}
