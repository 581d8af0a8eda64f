/**
 * What each event changes in a loan. Nothing is refused and nothing throws, because an event in the log has happened. That
 * holds also for an event of a core in another language that `decide` would not have written (see expected.ts).
 */
import type { EventData, Fact } from '../contract/events.ts';
import { LOAN_STATUSES } from '../contract/statuses.ts';
import { toCentavos } from '../contract/values.ts';
import { initial, type LoanState, type RegistrationState } from './state.ts';

/** An event with its version in the loan's stream. */
export type LoanEvent = Fact & { readonly version: number; readonly occurredAt: Date };

/** The events that may begin a loan's stream. Such an event is called the loan's contract. */
export const FIRST_TYPES = [
  'emprestimo.contratado',
  'emprestimo.solicitado',
] as const satisfies readonly Fact['type'][];

/** Events of other streams: of an authorization, a margin query, a settlement. */
export const OTHER_TYPES = [
  'autorizacao.confirmada',
  'margem.concluida',
  'margem.falhou',
  'repasse.processado',
] as const satisfies readonly Fact['type'][];

/** Moves a loan's status forward, never back. The closed statuses are last in the contract's list, so a closed loan stays closed. */
function advance(state: LoanState, to: LoanState['status']): LoanState {
  return LOAN_STATUSES.indexOf(to) > LOAN_STATUSES.indexOf(state.status) ? { ...state, status: to } : state;
}

function contracted(
  data: EventData<'emprestimo.contratado'>,
  status: 'emitindo' | 'em_assinatura',
  { version, occurredAt }: LoanEvent,
): LoanState {
  return {
    id: data.emprestimo_id.toLowerCase(),
    version,
    status,
    number: data.numero,
    workerCpf: data.cpf_trabalhador,
    workerName: data.nome_trabalhador,
    workerEnrollment: data.matricula,
    employerCnpj: data.cnpj_empregador,
    signing: data.tipo_assinatura,
    documentMode: data.entrega_documentos,
    releasedCentavos: toCentavos(data.valor_liberado),
    installments: data.numero_parcelas,
    installmentCentavos: toCentavos(data.valor_parcela),
    marginQueryId: data.consulta_margem_id,
    signed: false,
    receivedDocuments: [],
    registration: null,
    transferOpen: false,
    disbursedOn: null,
    obligation: null,
    createdAt: occurredAt.toISOString(),
    updatedAt: occurredAt.toISOString(),
  };
}

function registrationAsked(id: string, requestedAt: string): RegistrationState {
  return { id, status: 'processando', protocol: null, error: null, requestedAt, endedAt: null };
}

/** The answer to a registration. An answer without a question in this stream counts as asked and answered at once. */
function endRegistration(state: LoanState, id: string, end: Partial<RegistrationState>, at: string): LoanState {
  const asked = state.registration?.id === id ? state.registration : registrationAsked(id, at);
  return { ...state, registration: { ...asked, ...end, endedAt: at } };
}

function receive(state: LoanState, type: LoanState['receivedDocuments'][number]): LoanState {
  if (state.receivedDocuments.includes(type)) return state;
  return { ...state, receivedDocuments: [...state.receivedDocuments, type] };
}

function apply(state: LoanState, event: LoanEvent): LoanState {
  const at = event.occurredAt.toISOString();
  if (!isAbout(state.id, event)) return state;
  switch (event.type) {
    case 'emprestimo.emitido':
      return { ...advance(state, 'em_assinatura'), number: event.data.numero };
    case 'emprestimo.emissao_falhou':
      return state.disbursedOn === null ? advance(state, 'cancelada') : state;
    case 'assinatura.concluida':
      return { ...advance(state, 'aguardando_averbacao'), signed: true };
    case 'assinatura.pendente':
      return advance(state, 'aguardando_averbacao');
    case 'documento.recebido':
      return receive(state, event.data.tipo);
    case 'averbacao.solicitada':
      return { ...state, registration: registrationAsked(event.data.averbacao_id, at) };
    case 'averbacao.concluida': {
      const { averbacao_id: id, protocolo_registry: protocol } = event.data;
      const registered = advance(endRegistration(state, id, { status: 'concluida', protocol }, at), 'averbada');
      return { ...registered, transferOpen: registered.status === 'averbada' };
    }
    case 'averbacao.falhou':
      return endRegistration(state, event.data.averbacao_id, { status: 'falhou', error: event.data.erro }, at);
    case 'docs_registry.pendente':
      return { ...state, obligation: { situation: 'aguardando', deadline: event.data.prazo, receivedAt: null } };
    case 'docs_registry.recebido':
      return state.obligation === null
        ? state
        : { ...state, obligation: { ...state.obligation, situation: 'recebido', receivedAt: at } };
    case 'desembolso.liquidado':
      return { ...advance(state, 'desembolsada'), transferOpen: false, disbursedOn: event.data.data_liberacao };
    case 'desembolso.falhou':
      return { ...state, transferOpen: state.status === 'averbada' };
    case 'trabalhador.desligado':
      return { ...state, status: 'encerrada_desligamento' };
    case 'trabalhador.vinculo_novo':
    // A second contract does not change the first, and events of other streams do not concern a loan.
    case 'emprestimo.contratado':
    case 'emprestimo.solicitado':
    case 'autorizacao.confirmada':
    case 'margem.concluida':
    case 'margem.falhou':
    case 'repasse.processado':
      return state;
    default:
      return event satisfies never;
  }
}

/** False for an event whose `emprestimo_id` is not its stream's. */
export function isAbout(loanId: string, { data }: Fact): boolean {
  return !('emprestimo_id' in data) || data.emprestimo_id.toLowerCase() === loanId;
}

function next(state: LoanState, event: LoanEvent, at = event): LoanState {
  return { ...apply(state, event), version: at.version, updatedAt: at.occurredAt.toISOString() };
}

/** The loan after `event`; null while the stream has no contract. */
export function evolve(state: LoanState | null, event: LoanEvent): LoanState | null {
  if (state !== null) return next(state, event);
  if (event.type === 'emprestimo.contratado') return contracted(event.data, 'em_assinatura', event);
  if (event.type === 'emprestimo.solicitado') return contracted(event.data, 'emitindo', event);
  return null;
}

/**
 * The loan after all of `events`, in order, starting from `from`; null when none of them is its contract. Events ahead of the
 * contract take effect with the contract.
 */
export function fold(events: Iterable<LoanEvent>, from: LoanState | null = initial): LoanState | null {
  let state = from;
  const ahead: LoanEvent[] = [];
  for (const event of events) {
    const hadContract = state !== null;
    state = evolve(state, event);
    if (state === null) ahead.push(event);
    else if (!hadContract) state = ahead.reduce<LoanState>((loan, early) => next(loan, early, event), state);
  }
  return state;
}
