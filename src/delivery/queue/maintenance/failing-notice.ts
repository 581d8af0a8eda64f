/** The texts about a failing webhook: the notice to partner and operator, and the line of its history. Pure; no secrets. */
import type { EventData, NoticeName } from '../../../contract/events.ts';
import type { FailingChange } from '../../../contract/statuses.ts';
import { type FailingPolicy, type Run, whenSuspended } from './failing-rule.ts';

export interface Reported {
  readonly webhookId: string;
  readonly partnerId: string;
  readonly url: string;
  readonly run: Run | null;
  readonly failingSince: Date;
  readonly at: Date;
  readonly isJudged: boolean;
  readonly policy: FailingPolicy;
}

type Notice = { [N in NoticeName]: { readonly name: N; readonly data: EventData<N> } }[NoticeName];

/** No JSON in a text: the OWASP rules at paranoia 2 take it for an injection, and the notice is lost. */
const MEND =
  'Corrija o endpoint, ou troque a URL com PATCH /v1/webhooks/{id}. Uma resposta 2xx encerra o estado, e POST /v1/webhooks/{id}/teste pede uma na hora.';
const REACTIVATE =
  'Corrija o endpoint e reative o webhook com PATCH /v1/webhooks/{id}, ativo e retomar em true, que retoma as entregas suspensas.';

/** Null for a change without a notice. */
export function noticeOf(change: FailingChange, reported: Reported): Notice | null {
  const { webhookId, partnerId, url, run, failingSince, at, policy } = reported;
  if (run === null || change === 'fim_da_falha') return null;
  const which = {
    webhook_id: webhookId,
    parceiro_id: partnerId,
    host: new URL(url).host,
    primeira_falha_em: run.firstFailedAt.toISOString(),
    falhando_desde: failingSince.toISOString(),
    falhas: run.failures,
    ultimo_resultado: run.lastOutcome,
    ultimo_status_http: run.lastStatusCode,
  };
  if (change === 'suspensao') {
    const data = { ...which, suspenso_em: at.toISOString(), o_que_fazer: REACTIVATE };
    return { name: 'webhook.suspenso', data };
  }
  const suspendsAt = whenSuspended(failingSince, policy)?.toISOString() ?? null;
  return { name: 'webhook.falhando', data: { ...which, suspende_em: suspendsAt, o_que_fazer: MEND } };
}

export function reasonOf(change: FailingChange, { run, isJudged }: Reported): string {
  if (change === 'fim_da_falha' || run === null) {
    return isJudged ? 'voltou a responder bem' : 'está silenciado ou inativo';
  }
  const last = run.lastStatusCode === null ? run.lastOutcome : `${run.lastOutcome} ${run.lastStatusCode}`;
  return `${run.failures} falhas seguidas desde ${run.firstFailedAt.toISOString()}, a última ${last}`;
}
