/**
 * What each fact does to a loan, an entry a fact; complete by its type. A fact is a loan's when its payload names the loan; the contract
 * that begins a stream makes the loan (evolve.ts).
 */
import { type EventData, EVENT_TYPES, type EventType, type Fact } from '../contract/events.ts';
import { type DocumentType, LOAN_STATUSES } from '../contract/statuses.ts';
import { STATUSES_OF_END_OF_BOND, STATUSES_OF_REHIRE } from './decide-bonds.ts';
import { isDeferred, isRegistering, type LoanState, missingDocuments, type RegistrationState } from './state.ts';

/** Events that may begin a loan's stream: the loan's contract. */
export const FIRST_TYPES = ['emprestimo.contratado', 'emprestimo.solicitado'] as const satisfies readonly EventType[];

type FirstType = (typeof FIRST_TYPES)[number];
type LoanFact = Exclude<Extract<Fact, { readonly data: { readonly emprestimo_id: string } }>, { type: FirstType }>;

interface Rule<T extends LoanFact['type'] = LoanFact['type']> {
  /** Whether `decide` could have written the fact on this loan. */
  fits(state: LoanState, data: EventData<T>): boolean;
  /** The loan after the fact, fitting or not; `at`: when it occurred. */
  apply(state: LoanState, data: EventData<T>, at: string): LoanState;
}

const RULES: { readonly [T in LoanFact['type']]: Rule<T> } = {
  'emprestimo.emitido': {
    fits: isIssuing,
    apply: (state, { numero }) => ({ ...advance(state, 'em_assinatura'), number: numero }),
  },
  'emprestimo.emissao_falhou': {
    fits: isIssuing,
    apply: (state) => (state.disbursedOn === null ? advance(state, 'cancelada') : state),
  },
  'assinatura.concluida': {
    fits: (state, { tipo_assinatura: signing }) => signing === state.signing && maySign(state),
    apply: (state) => ({ ...advance(state, 'aguardando_averbacao'), signed: true }),
  },
  'assinatura.pendente': {
    fits: (state) => state.status === 'em_assinatura' && isDeferred(state),
    apply: (state) => advance(state, 'aguardando_averbacao'),
  },
  'documento.recebido': {
    fits: (state, { tipo }) => !state.receivedDocuments.includes(tipo) && mayReceive(tipo, state),
    apply: (state, { tipo }) =>
      state.receivedDocuments.includes(tipo)
        ? state
        : { ...state, receivedDocuments: [...state.receivedDocuments, tipo] },
  },
  'averbacao.solicitada': {
    fits: (state) => state.status === 'aguardando_averbacao' && state.registration?.status !== 'processando',
    apply: (state, { averbacao_id: id }, at) => ({ ...state, registration: registrationAsked(id, at) }),
  },
  'averbacao.concluida': {
    fits: (state, { averbacao_id: id }) => isRegistering(state, id),
    apply: (state, { averbacao_id: id, protocolo_registry: protocol }, at) => {
      const registered = advance(endRegistration(state, id, { status: 'concluida', protocol }, at), 'averbada');
      return { ...registered, transferOpen: registered.status === 'averbada' };
    },
  },
  'averbacao.falhou': {
    fits: (state, { averbacao_id: id }) => isRegistering(state, id),
    apply: (state, { averbacao_id: id, erro: error }, at) =>
      endRegistration(state, id, { status: 'falhou', error }, at),
  },
  'docs_registry.pendente': {
    fits: (state) => isDeferred(state) && state.registration?.status === 'concluida' && state.obligation === null,
    apply: (state, { prazo: deadline }) => ({
      ...state,
      obligation: { situation: 'aguardando', deadline, receivedAt: null },
    }),
  },
  'docs_registry.recebido': {
    fits: (state) => state.obligation?.situation === 'aguardando' && missingDocuments(state).length === 0,
    apply: (state, _data, at) =>
      state.obligation === null
        ? state
        : { ...state, obligation: { ...state.obligation, situation: 'recebido', receivedAt: at } },
  },
  'desembolso.liquidado': {
    fits: (state) => state.transferOpen,
    apply: (state, { data_liberacao: disbursedOn }) => ({
      ...advance(state, 'desembolsada'),
      transferOpen: false,
      disbursedOn,
    }),
  },
  'desembolso.falhou': {
    fits: (state) => state.transferOpen,
    apply: (state) => ({ ...state, transferOpen: state.status === 'averbada' }),
  },
  'trabalhador.desligado': {
    fits: ({ status }) => STATUSES_OF_END_OF_BOND.includes(status),
    apply: (state) => ({ ...state, status: 'encerrada_desligamento' }),
  },
  'trabalhador.vinculo_novo': {
    fits: ({ status }) => STATUSES_OF_REHIRE.includes(status),
    apply: (state) => state,
  },
};

/** Events of other streams: authorizations, margin queries, settlements. */
export const OTHER_TYPES: readonly EventType[] = EVENT_TYPES.filter(
  (type) => !Object.hasOwn(RULES, type) && !FIRST_TYPES.some((first) => first === type),
);

/** False for a loan's contract, and for another stream's fact. */
export function hasRule(fact: Fact): fact is LoanFact {
  return Object.hasOwn(RULES, fact.type);
}

export function ruleOf({ type }: LoanFact): Rule {
  return RULES[type];
}

/** Moves the status forward only. The closed statuses come last in the contract's list, so a closed loan stays closed. */
function advance(state: LoanState, to: LoanState['status']): LoanState {
  return LOAN_STATUSES.indexOf(to) > LOAN_STATUSES.indexOf(state.status) ? { ...state, status: to } : state;
}

function isIssuing({ status }: LoanState): boolean {
  return status === 'emitindo';
}

function registrationAsked(id: string, requestedAt: string): RegistrationState {
  return { id, status: 'processando', protocol: null, error: null, requestedAt, endedAt: null };
}

/** An answer without a question in this stream counts as asked and answered at once. */
function endRegistration(state: LoanState, id: string, end: Partial<RegistrationState>, at: string): LoanState {
  const asked = state.registration?.id === id ? state.registration : registrationAsked(id, at);
  return { ...state, registration: { ...asked, ...end, endedAt: at } };
}

function maySign(state: LoanState): boolean {
  if (state.signed) return false;
  if (isDeferred(state)) return state.obligation?.situation === 'recebido';
  return state.status === 'em_assinatura' && (state.signing === 'internal' || missingDocuments(state).length === 0);
}

function mayReceive(type: DocumentType, state: LoanState): boolean {
  if (state.obligation?.situation === 'aguardando') return true;
  if (state.signing !== 'externa' || state.status !== 'em_assinatura') return false;
  return !isDeferred(state) || type === 'ccb_assinada';
}
