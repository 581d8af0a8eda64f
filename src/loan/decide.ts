/** The loan's rules: a command and the state it meets become facts or a refusal. */
import { toReais } from '../contract/values.ts';
import { dayOf } from './calendar.ts';
import { type Command, type CommandOf, type Decision, type Rejection, refuse } from './command.ts';
import { endBond, recordNewBond } from './decide-bonds.ts';
import { concludesSigning, deliverDocument, deliverMissingDocuments, deliverPackage } from './decide-documents.ts';
import { concludeRegistration, failRegistration, requestRegistration } from './decide-registration.ts';
import type { LoanState } from './state.ts';

function issue({ issuance, contract }: CommandOf<'issue'>, state: LoanState | null): Decision {
  if (state !== null) return refuse(state, 'Não é possível contratar de novo');
  const type = issuance === 'sincrona' ? 'emprestimo.contratado' : 'emprestimo.solicitado';
  return { facts: [{ type, data: contract }] };
}

function concludeIssuance({ number }: CommandOf<'concludeIssuance'>, state: LoanState): Decision {
  if (state.status !== 'emitindo') return refuse(state, 'Não há emissão em andamento');
  const valor_liberado = toReais(state.releasedCentavos);
  return { facts: [{ type: 'emprestimo.emitido', data: { emprestimo_id: state.id, numero: number, valor_liberado } }] };
}

function failIssuance({ reason }: CommandOf<'failIssuance'>, state: LoanState): Decision {
  if (state.status !== 'emitindo') return refuse(state, 'Não há emissão em andamento');
  return { facts: [{ type: 'emprestimo.emissao_falhou', data: { emprestimo_id: state.id, motivo: reason } }] };
}

function concludeSigning(state: LoanState): Decision {
  const what = 'Não é possível concluir a assinatura';
  if (state.signing !== 'internal') return refuse(state, what, 'com tipo_assinatura externa');
  if (state.status !== 'em_assinatura') return refuse(state, what);
  return { facts: [concludesSigning(state)] };
}

function settleDisbursement({ on, today }: CommandOf<'settleDisbursement'>, state: LoanState): Decision {
  if (!state.transferOpen) return refuse(state, 'Não há desembolso a liquidar');
  const misdated = judgeDay(on, dayOf(new Date(state.createdAt)), today);
  if (misdated !== null) return misdated;
  const data = {
    emprestimo_id: state.id,
    numero_emprestimo: state.number,
    valor_liberado: toReais(state.releasedCentavos),
    data_liberacao: on,
  };
  return { facts: [{ type: 'desembolso.liquidado', data }] };
}

/** Null from the day of the loan to today. Today always fits: a clock that went back must not refuse a transfer. */
function judgeDay(on: string, created: string, today: string): Rejection | null {
  if (on === today || (on >= created && on < today)) return null;
  const mensagem = `deve ser de ${created}, dia da contratação, a ${today}, hoje em São Paulo`;
  return {
    invalid: 'a data de liberação não cabe neste empréstimo',
    details: [{ campo: 'data_liberacao', mensagem }],
  };
}

function failDisbursement({ reason }: CommandOf<'failDisbursement'>, state: LoanState): Decision {
  if (!state.transferOpen) return refuse(state, 'Não há desembolso que possa falhar');
  const data = { emprestimo_id: state.id, numero_emprestimo: state.number, motivo: reason };
  return { facts: [{ type: 'desembolso.falhou', data }] };
}

/** What `command` does to a loan in `state`; `state` is null when there is no loan yet. */
export function decide(command: Command, state: LoanState | null): Decision {
  if (command.type === 'issue') return issue(command, state);
  if (state === null) return { rejected: 'O empréstimo não existe' };
  switch (command.type) {
    case 'concludeIssuance':
      return concludeIssuance(command, state);
    case 'failIssuance':
      return failIssuance(command, state);
    case 'concludeSigning':
      return concludeSigning(state);
    case 'deliverPackage':
      return deliverPackage(command, state);
    case 'deliverMissingDocuments':
      return deliverMissingDocuments(command, state);
    case 'deliverDocument':
      return deliverDocument(command, state);
    case 'requestRegistration':
      return requestRegistration(command, state);
    case 'concludeRegistration':
      return concludeRegistration(command, state);
    case 'failRegistration':
      return failRegistration(command, state);
    case 'settleDisbursement':
      return settleDisbursement(command, state);
    case 'failDisbursement':
      return failDisbursement(command, state);
    case 'endBond':
      return endBond(command, state);
    case 'recordNewBond':
      return recordNewBond(command, state);
    default:
      return command satisfies never;
  }
}
