/**
 * Whether `decide` could have written an event at its position in the stream. A core in another language may append any event
 * of the catalog. One that does not fit is folded all the same, and reported to auditors.
 */
import type { Fact } from '../contract/events.ts';
import { DOCUMENT_TYPES } from '../contract/statuses.ts';
import { STATUSES_OF_END_OF_BOND, STATUSES_OF_REHIRE } from './decide-bonds.ts';
import { FIRST_TYPES, isAbout, OTHER_TYPES } from './evolve.ts';
import { isDeferred, type LoanState } from './state.ts';

/** The event's stream, its loan before the event, and the loan's partner; the last two are null before the contract. */
export interface StreamSoFar {
  readonly stream: string;
  readonly state: LoanState | null;
  readonly ownerId: string | null;
}

/** Null for an event that fits at its position, else the reason in Portuguese. */
export function unexpected(event: Fact & { readonly version: number; readonly partnerId: string }, soFar: StreamSoFar) {
  const { state } = soFar;
  if (!isAbout(soFar.stream, event)) return 'emprestimo_id não é o do fluxo em que o evento está';
  if (isOf(OTHER_TYPES, event)) return event.version === 1 ? null : 'o evento não é o primeiro do seu fluxo';
  if (isOf(FIRST_TYPES, event)) {
    if (state !== null) return 'o empréstimo já tinha sido contratado';
    return event.version === 1 ? null : 'a contratação não é o primeiro evento do fluxo';
  }
  if (state === null) return 'o fluxo não tem, antes, a contratação do empréstimo';
  if (event.partnerId !== soFar.ownerId) return 'o empréstimo é de outro parceiro';
  if ('numero_emprestimo' in event.data && event.data.numero_emprestimo !== state.number)
    return `numero_emprestimo não é ${state.number}, o do empréstimo`;
  return fits(event, state) ? null : describe(state);
}

function isOf(types: readonly Fact['type'][], { type }: Fact): boolean {
  return types.includes(type);
}

function describe(state: LoanState): string {
  const registration = state.registration === null ? 'sem averbação' : `averbação ${state.registration.status}`;
  const obligation = state.obligation === null ? 'sem entrega_docs_registry' : state.obligation.situation;
  return `não cabe no estado: status ${state.status}, ${registration}, ${obligation}`;
}

function fits(event: Fact, state: LoanState): boolean {
  switch (event.type) {
    case 'emprestimo.emitido':
    case 'emprestimo.emissao_falhou':
      return state.status === 'emitindo';
    case 'assinatura.concluida':
      return event.data.tipo_assinatura === state.signing && isSigned(state);
    case 'assinatura.pendente':
      return state.status === 'em_assinatura' && isDeferred(state);
    case 'documento.recebido':
      return !state.receivedDocuments.includes(event.data.tipo) && mayReceive(event.data.tipo, state);
    case 'averbacao.solicitada':
      return state.status === 'aguardando_averbacao' && state.registration?.status !== 'processando';
    case 'averbacao.concluida':
    case 'averbacao.falhou':
      return state.registration?.id === event.data.averbacao_id && state.registration.status === 'processando';
    case 'docs_registry.pendente':
      return isDeferred(state) && state.registration?.status === 'concluida' && state.obligation === null;
    case 'docs_registry.recebido':
      return state.obligation?.situation === 'aguardando' && hasAll(state);
    case 'desembolso.liquidado':
    case 'desembolso.falhou':
      return state.transferOpen;
    case 'trabalhador.desligado':
      return STATUSES_OF_END_OF_BOND.includes(state.status);
    case 'trabalhador.vinculo_novo':
      return STATUSES_OF_REHIRE.includes(state.status);
    case 'emprestimo.contratado':
    case 'emprestimo.solicitado':
    case 'autorizacao.confirmada':
    case 'margem.concluida':
    case 'margem.falhou':
    case 'repasse.processado':
      return false;
    default:
      return event satisfies never;
  }
}

function hasAll(state: LoanState): boolean {
  return DOCUMENT_TYPES.every((type) => state.receivedDocuments.includes(type));
}

function isSigned(state: LoanState): boolean {
  if (state.signed) return false;
  if (isDeferred(state)) return state.obligation?.situation === 'recebido';
  return state.status === 'em_assinatura' && (state.signing === 'internal' || hasAll(state));
}

function mayReceive(type: LoanState['receivedDocuments'][number], state: LoanState): boolean {
  if (state.obligation?.situation === 'aguardando') return true;
  if (state.signing !== 'externa' || state.status !== 'em_assinatura') return false;
  return !isDeferred(state) || type === 'ccb_assinada';
}
