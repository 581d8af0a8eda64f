/** Given/when/then for the loan's decider, and the loans that its tests start from. */
import { EVENTS, type EventType, type Fact } from '../../src/contract/events.ts';
import { DOCUMENT_TYPES, type DocumentMode, type DocumentType, type SigningMode } from '../../src/contract/statuses.ts';
import type { Command, Decision, DocumentPiece } from '../../src/loan/command.ts';
import { decide } from '../../src/loan/decide.ts';
import { fold, type LoanEvent } from '../../src/loan/evolve.ts';
import type { LoanState } from '../../src/loan/state.ts';

export const LOAN_ID = '0198c0de-0000-7000-8000-000000000001';
export const REGISTRATION_ID = '0198c0de-0000-7000-8000-000000000002';
export const NOW = new Date('2026-03-10T12:00:00.000Z');

export const contract = (signing: SigningMode = 'internal', documents: DocumentMode = 'agrupada') => ({
  emprestimo_id: LOAN_ID,
  numero: '2026-00000001',
  cpf_trabalhador: '52998224725',
  nome_trabalhador: 'Ana Souza',
  matricula: 'M-17',
  cnpj_empregador: '11222333000181',
  tipo_assinatura: signing,
  entrega_documentos: documents,
  valor_liberado: 1234.5,
  numero_parcelas: 12,
  valor_parcela: 120.33,
  consulta_margem_id: null,
});

export const pieces = (types: readonly DocumentType[] = DOCUMENT_TYPES): DocumentPiece[] =>
  types.map((type) => ({ type, sha256: 'ab'.repeat(32) }));

/** One command of each type, as a caller would send it. */
export const COMMANDS = {
  issue: { type: 'issue', issuance: 'sincrona', contract: contract() },
  concludeIssuance: { type: 'concludeIssuance', number: '2026-00000002' },
  failIssuance: { type: 'failIssuance', reason: 'tentativas esgotadas' },
  concludeSigning: { type: 'concludeSigning' },
  deliverPackage: { type: 'deliverPackage', documents: pieces() },
  deliverMissingDocuments: { type: 'deliverMissingDocuments', documents: pieces() },
  deliverDocument: { type: 'deliverDocument', document: { type: 'selfie', sha256: 'cd'.repeat(32) } },
  requestRegistration: { type: 'requestRegistration', registrationId: REGISTRATION_ID },
  concludeRegistration: {
    type: 'concludeRegistration',
    registrationId: REGISTRATION_ID,
    protocol: 'REG-1',
    documentsDeadline: '2026-03-25',
  },
  failRegistration: { type: 'failRegistration', registrationId: REGISTRATION_ID, error: 'margem insuficiente' },
  settleDisbursement: { type: 'settleDisbursement', on: '2026-03-10', today: '2026-03-12' },
  failDisbursement: { type: 'failDisbursement', reason: 'conta inválida' },
  endBond: { type: 'endBond', on: '2026-03-01', reason: { codigo: '10', descricao: 'Pedido do trabalhador' } },
  recordNewBond: {
    type: 'recordNewBond',
    employer: { cnpj: '11444777000161', nome: 'Outra Empresa' },
    on: '2026-04-01',
    availableMarginCentavos: 12_033,
    outstandingCentavos: 144_396,
  },
} as const satisfies { [T in Command['type']]: Extract<Command, { type: T }> };

/** Numbers facts as the log would, from version 1, one second apart. */
export function recorded(facts: readonly Fact[], after = 0): LoanEvent[] {
  return facts.map((fact, index) => {
    const version = after + index + 1;
    return { ...fact, version, occurredAt: new Date(NOW.getTime() + version * 1_000) };
  });
}

/** The facts of an accepted command; none when it was refused. */
function factsOf(decision: Decision): readonly Fact[] {
  return 'ok' in decision ? decision.ok : [];
}

export function typesOf(decision: Decision): EventType[] {
  return factsOf(decision).map(({ type }) => type);
}

/** Decides, and holds every fact against the contract's schema. */
function decideWithinContract(command: Command, state: LoanState | null): Decision {
  const decision = decide(command, state);
  for (const { type, data } of factsOf(decision)) EVENTS[type].data.parse(data);
  return decision;
}

/** The loan after `commands`, all of which must be accepted. */
export function after(...commands: readonly Command[]): LoanState | null {
  let state: LoanState | null = null;
  for (const command of commands) {
    const decision: Decision = decideWithinContract(command, state);
    if (!('ok' in decision)) throw new Error(`${command.type} was refused: ${JSON.stringify(decision)}`);
    state = fold(recorded(decision.ok, state?.version), state);
  }
  return state;
}

/** Given a loan that went through `commands`, what is decided when one more comes. */
export function given(...commands: readonly Command[]) {
  const state = after(...commands);
  return { when: (command: Command): Decision => decideWithinContract(command, state) };
}
