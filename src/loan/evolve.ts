/** What each event means to a loan. Nothing is refused here: what the log holds has happened. */
import type { EventData, Fact } from '../contract/events.ts';
import { toCentavos } from '../contract/values.ts';
import { initial, type LoanState, type RegistrationState } from './state.ts';

/** An event with its place in the loan's stream. */
export type LoanEvent = Fact & { readonly version: number; readonly occurredAt: Date };

/** The events that a loan's stream may begin with. */
export const FIRST_TYPES = [
  'emprestimo.contratado',
  'emprestimo.solicitado',
] as const satisfies readonly Fact['type'][];

/** Moves a loan forward only from the status that the event is about; a closed loan keeps its status. */
function advance(state: LoanState, from: LoanState['status'], to: LoanState['status']): LoanState {
  return state.status === from ? { ...state, status: to } : state;
}

function contracted(
  data: EventData<'emprestimo.contratado'>,
  status: 'emitindo' | 'em_assinatura',
  { version, occurredAt }: LoanEvent,
): LoanState {
  return {
    id: data.emprestimo_id,
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

function endRegistration(state: LoanState, end: Partial<RegistrationState>): LoanState {
  return state.registration === null ? state : { ...state, registration: { ...state.registration, ...end } };
}

function apply(state: LoanState, event: LoanEvent): LoanState {
  const at = event.occurredAt.toISOString();
  switch (event.type) {
    case 'emprestimo.emitido':
      return { ...advance(state, 'emitindo', 'em_assinatura'), number: event.data.numero };
    case 'emprestimo.emissao_falhou':
      return advance(state, 'emitindo', 'cancelada');
    case 'assinatura.concluida':
      return { ...advance(state, 'em_assinatura', 'aguardando_averbacao'), signed: true };
    case 'assinatura.pendente':
      return advance(state, 'em_assinatura', 'aguardando_averbacao');
    case 'documento.recebido':
      return { ...state, receivedDocuments: [...state.receivedDocuments, event.data.tipo] };
    case 'averbacao.solicitada':
      return { ...state, registration: registrationAsked(event.data.averbacao_id, at) };
    case 'averbacao.concluida': {
      const { protocolo_registry: protocol } = event.data;
      const ended = endRegistration(state, { status: 'concluida', protocol, endedAt: at });
      const registered = advance(ended, 'aguardando_averbacao', 'averbada');
      return { ...registered, transferOpen: registered.status === 'averbada' };
    }
    case 'averbacao.falhou':
      return endRegistration(state, { status: 'falhou', error: event.data.erro, endedAt: at });
    case 'docs_registry.pendente':
      return { ...state, obligation: { situation: 'aguardando', deadline: event.data.prazo, receivedAt: null } };
    case 'docs_registry.recebido':
      return state.obligation === null
        ? state
        : { ...state, obligation: { ...state.obligation, situation: 'recebido', receivedAt: at } };
    case 'desembolso.liquidado':
      return {
        ...advance(state, 'averbada', 'desembolsada'),
        transferOpen: false,
        disbursedOn: event.data.data_liberacao,
      };
    case 'desembolso.falhou':
      return { ...state, transferOpen: state.status === 'averbada' };
    case 'trabalhador.desligado':
      return { ...state, status: 'encerrada_desligamento' };
    case 'trabalhador.vinculo_novo':
      return state;
    case 'emprestimo.contratado':
    case 'emprestimo.solicitado':
      throw new Error(`${event.type} is not the first event of its stream`);
    case 'autorizacao.confirmada':
    case 'margem.concluida':
    case 'margem.falhou':
    case 'repasse.processado':
      throw new Error(`${event.type} does not belong on a loan's stream`);
    default:
      return event satisfies never;
  }
}

/** The loan after `event`. Throws for an event that cannot be on a loan's stream, which is a fault of ours. */
export function evolve(state: LoanState | null, event: LoanEvent): LoanState {
  if (state === null) {
    if (event.type === 'emprestimo.contratado') return contracted(event.data, 'em_assinatura', event);
    if (event.type === 'emprestimo.solicitado') return contracted(event.data, 'emitindo', event);
    throw new Error(`${event.type} cannot be the first event of a loan`);
  }
  return { ...apply(state, event), version: event.version, updatedAt: event.occurredAt.toISOString() };
}

/** The loan after all of `events`, in order, from `from`; null when there are none. */
export function fold(events: Iterable<LoanEvent>, from: LoanState | null = initial): LoanState | null {
  let state = from;
  for (const event of events) state = evolve(state, event);
  return state;
}
