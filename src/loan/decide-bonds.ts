/** End of bond and rehire. */
import { CLOSED_FOR_END_OF_BOND, type LoanStatus } from '../contract/statuses.ts';
import { toReais } from '../contract/values.ts';
import { type CommandOf, type Decision, refuse } from './command.ts';
import type { LoanState } from './state.ts';

/** Statuses in which an end of bond closes the loan. In `emitindo` the end waits; in the others nothing is left to close. */
export const STATUSES_OF_END_OF_BOND: readonly LoanStatus[] = [
  'em_assinatura',
  'aguardando_averbacao',
  'averbada',
  'desembolsada',
];

export const STATUSES_OF_REHIRE: readonly LoanStatus[] = ['encerrada_desligamento'];

/** A registration or transfer under way still ends with its own event. */
export function endBond({ on, reason }: CommandOf<'endBond'>, state: LoanState): Decision {
  if (!STATUSES_OF_END_OF_BOND.includes(state.status)) return refuse(state, 'Não é possível encerrar por desligamento');
  const data = {
    emprestimo_id: state.id,
    numero_emprestimo: state.number,
    cpf_trabalhador: state.workerCpf,
    matricula: state.workerEnrollment,
    nome_trabalhador: state.workerName,
    data_desligamento: on,
    motivo_desligamento: reason,
    situacao_emprestimo: CLOSED_FOR_END_OF_BOND,
  };
  return { ok: [{ type: 'trabalhador.desligado', data }] };
}

/** The balance may be registered under the new employer. */
export function recordNewBond(command: CommandOf<'recordNewBond'>, state: LoanState): Decision {
  if (!STATUSES_OF_REHIRE.includes(state.status)) return refuse(state, 'Não é possível registrar novo vínculo');
  const data = {
    cpf_trabalhador: state.workerCpf,
    nome_trabalhador: state.workerName,
    novo_empregador: command.employer,
    data_admissao: command.on,
    margem_disponivel: toReais(command.availableMarginCentavos),
    emprestimo_id: state.id,
    saldo_pendente: toReais(command.outstandingCentavos),
    averbavel: command.availableMarginCentavos >= state.installmentCentavos,
  };
  return { ok: [{ type: 'trabalhador.vinculo_novo', data }] };
}
