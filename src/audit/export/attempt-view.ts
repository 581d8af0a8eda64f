/** An attempt as auditors read it: as the view `auditoria.tentativas` shows it to one with the same grant. */
import type { AuditedAttempt } from '../attempts.ts';
import type { AuditedAttemptResource } from '../../contract/resources/audit-resource.ts';
import { masked } from '../../contract/masking.ts';
import { answerText, readableAnswer } from '../../delivery/partner/answer-text.ts';

export function attemptView(attempt: AuditedAttempt, seesCpf: boolean): AuditedAttemptResource {
  const shown = (text: string) => (seesCpf ? text : masked(text));
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
    url: shown(attempt.url),
    endereco: attempt.address,
    chave_id: attempt.keyId,
    poller: attempt.poller,
    reivindicacao: attempt.claim,
    erro: attempt.error === null ? null : shown(attempt.error),
    resposta: seesCpf ? answerText(attempt.answer) : readableAnswer(attempt.answer),
  };
}
