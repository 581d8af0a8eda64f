/** A whole loan at the push of a button: whatever is its next action is done, with a pause so that one can watch. */
import { setTimeout as sleep } from 'node:timers/promises';
import { DOCUMENT_TYPES } from '../../contract/statuses.ts';
import type { LoanResource } from '../../contract/resources/loan-resource.ts';
import type { ApiClient } from '../api-client.ts';
import { type Call, LOAN_ACTS, newLoan } from './acts.ts';

const MAX_STEPS = 40;

/** Issues a loan; its id, or null when it was refused. */
export async function beginWalk(api: ApiClient): Promise<string | null> {
  const answer = await api.send<LoanResource>(...newLoan());
  return answer.ok ? answer.body.id : null;
}

/** Does what comes next until nothing does; `pauseMs` lies between two steps. */
export async function walkOn(api: ApiClient, loanId: string, pauseMs: number, signal: AbortSignal): Promise<void> {
  for (let step = 0; step < MAX_STEPS && !signal.aborted; step += 1) {
    await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
    const read = await api.ask<LoanResource>(`/v1/emprestimos/${loanId}`);
    if (!read.ok || read.body.proxima_acao === null) return;
    // A registration that is under way ends by itself.
    if (read.body.averbacao?.status === 'processando') continue;
    const sent = await api.send(...nextCall(read.body));
    if (!sent.ok && sent.status !== 409) return;
  }
}

function nextCall(loan: LoanResource): Call {
  const given = { loanId: loan.id, seconds: 0, month: '' };
  switch (loan.proxima_acao) {
    case 'aguardar_emissao':
      return LOAN_ACTS.emissao_emitida(given);
    case 'assinar':
      return LOAN_ACTS.assinatura(given);
    case 'enviar_documentos':
      return ['POST', `/v1/emprestimos/${loan.id}/documentos`, { documentos: DOCUMENTS }];
    case 'desembolsar':
      return LOAN_ACTS.desembolso_liquidado(given);
    case 'averbar':
    case null:
      return LOAN_ACTS.averbar(given);
    default:
      return loan.proxima_acao satisfies never;
  }
}

const DOCUMENTS = DOCUMENT_TYPES.map((tipo) => ({ tipo, conteudo_base64: 'JVBERi0xLjcK' }));
