/** Registration (averbação): asked, then concluded or failed exactly once (contract, "Rules" 4 and 5). */
import type { Fact } from '../contract/events.ts';
import { type CommandOf, type Decision, refuse } from './command.ts';
import { isDeferred, type LoanState } from './state.ts';

/** Asks for a registration. Straight from `em_assinatura` in the deferred flow, it first leaves the signing pending. */
export function requestRegistration(command: CommandOf<'requestRegistration'>, state: LoanState): Decision {
  const what = 'Não é possível averbar';
  if (state.registration?.status === 'processando') return refuse(state, what, 'com uma averbação em processamento');
  const requested: Fact = {
    type: 'averbacao.solicitada',
    data: { emprestimo_id: state.id, averbacao_id: command.registrationId },
  };
  if (state.status === 'aguardando_averbacao') return { facts: [requested] };
  if (state.status === 'em_assinatura' && isDeferred(state))
    return { facts: [leavesSigningPending(state, false), requested] };
  return refuse(state, what);
}

/** The fact that a deferred loan goes on with an incomplete package. */
export function leavesSigningPending(state: LoanState, ccbReceived: boolean): Fact {
  const data = { emprestimo_id: state.id, numero_emprestimo: state.number, ccb_assinada_recebida: ccbReceived };
  return { type: 'assinatura.pendente', data };
}

/**
 * The registry recorded it. In the deferred flow this opens the documents obligation, even on a loan that was closed
 * meanwhile: the registry holds the registration and still expects its documents.
 */
export function concludeRegistration(command: CommandOf<'concludeRegistration'>, state: LoanState): Decision {
  if (!isUnderWay(command.registrationId, state)) return refuse(state, 'A averbação não está em processamento');
  const concluded: Fact = {
    type: 'averbacao.concluida',
    data: { emprestimo_id: state.id, averbacao_id: command.registrationId, protocolo_registry: command.protocol },
  };
  if (!isDeferred(state)) return { facts: [concluded] };
  const opened: Fact = {
    type: 'docs_registry.pendente',
    data: { emprestimo_id: state.id, numero_emprestimo: state.number, prazo: command.documentsDeadline },
  };
  return { facts: [concluded, opened] };
}

/** The registry refused it; it may be asked again. */
export function failRegistration(command: CommandOf<'failRegistration'>, state: LoanState): Decision {
  if (!isUnderWay(command.registrationId, state)) return refuse(state, 'A averbação não está em processamento');
  const data = { emprestimo_id: state.id, averbacao_id: command.registrationId, erro: command.error };
  return { facts: [{ type: 'averbacao.falhou', data }] };
}

function isUnderWay(registrationId: string, { registration }: LoanState): boolean {
  return registration?.id === registrationId && registration.status === 'processando';
}
