/**
 * A loan folded from its events by their rules (rules.ts). Nothing is refused or throws, because an event in the log has happened: also one
 * of another core that `decide` would not have written (expected.ts). An event that does not fit the catalog changes only the version.
 */
import { type EventData, type Fact, isOfCatalog } from '../contract/events.ts';
import { isLegible } from '../contract/legible.ts';
import { toCentavos } from '../contract/values.ts';
import { hasRule, ruleOf } from './rules.ts';
import type { LoanState } from './state.ts';

export type LoanEvent = Fact & { readonly version: number; readonly occurredAt: Date };

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

function apply(state: LoanState, event: LoanEvent): LoanState {
  // A second contract does not change the first; other streams' events do not concern a loan.
  if (!hasRule(event) || !isAbout(state.id, event)) return state;
  return ruleOf(event).apply(state, event.data, event.occurredAt.toISOString());
}

/** False for an event whose `emprestimo_id` is not its stream's, or that is unreadable. */
export function isAbout(loanId: string, fact: Fact): boolean {
  const { data }: { readonly data: object } = fact;
  if (!isLegible(data)) return false;
  return 'emprestimo_id' in data ? String(data.emprestimo_id).toLowerCase() === loanId : !hasRule(fact);
}

function next(state: LoanState, event: LoanEvent, at = event): LoanState {
  return { ...apply(state, event), version: at.version, updatedAt: at.occurredAt.toISOString() };
}

/** Null while the stream has no contract. */
export function evolve(state: LoanState | null, event: LoanEvent): LoanState | null {
  try {
    return evolved(state, event);
  } catch (error) {
    if (isOfCatalog(event)) throw error;
    return state === null ? null : { ...state, version: event.version };
  }
}

function evolved(state: LoanState | null, event: LoanEvent): LoanState | null {
  if (state !== null) return next(state, event);
  if (!isLegible(event.data)) return null;
  if (event.type === 'emprestimo.contratado') return contracted(event.data, 'em_assinatura', event);
  if (event.type === 'emprestimo.solicitado') return contracted(event.data, 'emitindo', event);
  return null;
}

/** The loan after `events`, in order, starting from `from`; null when none is its contract. */
export function fold(events: Iterable<LoanEvent>, from: LoanState | null = null): LoanState | null {
  let last = from;
  for (const state of states(events, from)) last = state;
  return last;
}

/** The loan after each event. Events ahead of the contract take effect with it. */
export function* states(events: Iterable<LoanEvent>, from: LoanState | null = null): Generator<LoanState | null> {
  let state = from;
  const ahead: LoanEvent[] = [];
  for (const event of events) {
    const hadContract = state !== null;
    state = evolve(state, event);
    if (state === null) ahead.push(event);
    else if (!hadContract) state = ahead.reduce<LoanState>((loan, early) => next(loan, early, event), state);
    yield state;
  }
}
