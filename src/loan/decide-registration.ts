/** Registration (averbação): asked, then concluded or failed exactly once. */
import type { Fact } from '../contract/events.ts';
import { type CommandOf, type Decision, refuse } from './command.ts';
import { isDeferred, isRegistering, type LoanState } from './state.ts';

/** In the deferred flow, asked in `em_assinatura`, it emits `assinatura.pendente` first. */
export function requestRegistration(command: CommandOf<'requestRegistration'>, state: LoanState): Decision {
  const what = 'Não é possível averbar';
  if (state.registration?.status === 'processando') return refuse(state, what, 'com uma averbação em processamento');
  const requested: Fact = {
    type: 'averbacao.solicitada',
    data: { emprestimo_id: state.id, averbacao_id: command.registrationId },
  };
  if (state.status === 'aguardando_averbacao') return { ok: [requested] };
  if (state.status === 'em_assinatura' && isDeferred(state))
    return { ok: [leavesSigningPending(state, false), requested] };
  return refuse(state, what);
}

/** A deferred loan goes on with an incomplete package. */
export function leavesSigningPending(state: LoanState, ccbReceived: boolean): Fact {
  const data = { emprestimo_id: state.id, numero_emprestimo: state.number, ccb_assinada_recebida: ccbReceived };
  return { type: 'assinatura.pendente', data };
}

/** In the deferred flow this opens the documents obligation, also on a loan closed meanwhile: the registry still expects the documents. */
export function concludeRegistration(command: CommandOf<'concludeRegistration'>, state: LoanState): Decision {
  if (!isRegistering(state, command.registrationId)) return refuseEnd(command.registrationId, state);
  const concluded: Fact = {
    type: 'averbacao.concluida',
    data: { emprestimo_id: state.id, averbacao_id: command.registrationId, protocolo_registry: command.protocol },
  };
  if (!isDeferred(state)) return { ok: [concluded] };
  const opened: Fact = {
    type: 'docs_registry.pendente',
    data: { emprestimo_id: state.id, numero_emprestimo: state.number, prazo: command.documentsDeadline },
  };
  return { ok: [concluded, opened] };
}

/** The partner may ask again. */
export function failRegistration(command: CommandOf<'failRegistration'>, state: LoanState): Decision {
  if (!isRegistering(state, command.registrationId)) return refuseEnd(command.registrationId, state);
  const data = { emprestimo_id: state.id, averbacao_id: command.registrationId, erro: command.error };
  return { ok: [{ type: 'averbacao.falhou', data }] };
}

/** One registration has one result: the second answer learns the first. */
function refuseEnd(registrationId: string, state: LoanState): Decision {
  const { registration } = state;
  const what = 'A averbação não está em processamento';
  if (registration === null || registration.id !== registrationId) return refuse(state, what);
  const how = registration.status === 'concluida' ? `concluída com o protocolo ${registration.protocol}` : 'recusada';
  return refuse(state, what, `e ela já foi ${how}`);
}
