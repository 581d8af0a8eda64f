import { toReais } from '../contract/values.ts';
import { NOT_FOUND } from '../contract/refusals.ts';
import { dayOf } from '../contract/calendar.ts';
import { type Command, type CommandOf, type Decision, refuse } from './command.ts';
import { endBond, recordNewBond } from './decide-bonds.ts';
import { concludesSigning, deliverDocument, deliverMissingDocuments, deliverPackage } from './decide-documents.ts';
import { concludeRegistration, failRegistration, requestRegistration } from './decide-registration.ts';
import type { LoanState } from './state.ts';

function issue({ issuance, contract }: CommandOf<'issue'>, state: LoanState | null): Decision {
  if (state !== null) return refuse(state, 'Não é possível contratar de novo');
  const type = issuance === 'sincrona' ? 'emprestimo.contratado' : 'emprestimo.solicitado';
  return { ok: [{ type, data: contract }] };
}

function concludeIssuance({ number }: CommandOf<'concludeIssuance'>, state: LoanState): Decision {
  if (state.status !== 'emitindo') return refuse(state, 'Não há emissão em andamento');
  const valor_liberado = toReais(state.releasedCentavos);
  return { ok: [{ type: 'emprestimo.emitido', data: { emprestimo_id: state.id, numero: number, valor_liberado } }] };
}

function failIssuance({ reason }: CommandOf<'failIssuance'>, state: LoanState): Decision {
  if (state.status !== 'emitindo') return refuse(state, 'Não há emissão em andamento');
  return { ok: [{ type: 'emprestimo.emissao_falhou', data: { emprestimo_id: state.id, motivo: reason } }] };
}

function concludeSigning(state: LoanState): Decision {
  const what = 'Não é possível concluir a assinatura';
  if (state.signing !== 'internal') return refuse(state, what, 'com tipo_assinatura externa');
  if (state.status !== 'em_assinatura') return refuse(state, what);
  return { ok: [concludesSigning(state)] };
}

function settleDisbursement({ on, today, since }: CommandOf<'settleDisbursement'>, state: LoanState): Decision {
  if (!state.transferOpen) return refuse(state, 'Não há desembolso a liquidar');
  const created = { day: dayOf(new Date(state.createdAt)), is: 'dia da contratação' };
  const first = since === undefined ? created : { day: since, is: 'o dia mais antigo que a sandbox aceita' };
  // Today always fits: a clock that was set back must not refuse a transfer.
  if (on !== today && (on < first.day || on > today)) {
    const mensagem = `deve ser de ${first.day}, ${first.is}, a ${today}, hoje em São Paulo`;
    const details = [{ campo: 'data_liberacao', mensagem }];
    return { refused: { kind: 'mismatch', what: 'a data de liberação não cabe neste empréstimo', details } };
  }
  const data = {
    emprestimo_id: state.id,
    numero_emprestimo: state.number,
    valor_liberado: toReais(state.releasedCentavos),
    data_liberacao: on,
  };
  return { ok: [{ type: 'desembolso.liquidado', data }] };
}

function failDisbursement({ reason }: CommandOf<'failDisbursement'>, state: LoanState): Decision {
  if (!state.transferOpen) return refuse(state, 'Não há desembolso que possa falhar');
  const data = { emprestimo_id: state.id, numero_emprestimo: state.number, motivo: reason };
  return { ok: [{ type: 'desembolso.falhou', data }] };
}

type Decider<T extends Command['type']> = (command: CommandOf<T>, state: LoanState) => Decision;

const DECIDERS: { readonly [T in Exclude<Command['type'], 'issue'>]: Decider<T> } = {
  concludeIssuance,
  failIssuance,
  concludeSigning: (_, state) => concludeSigning(state),
  deliverPackage,
  deliverMissingDocuments,
  deliverDocument,
  requestRegistration,
  concludeRegistration,
  failRegistration,
  settleDisbursement,
  failDisbursement,
  endBond,
  recordNewBond,
};

/** The answer of a loan in `state` to `command`; `state` is null before the loan exists. */
export function decide(command: Command, state: LoanState | null): Decision {
  if (command.type === 'issue') return issue(command, state);
  return state === null ? NOT_FOUND : (DECIDERS[command.type] as Decider<Command['type']>)(command, state);
}
