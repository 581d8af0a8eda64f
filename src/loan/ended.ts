import { addMonths, dayOf } from '../contract/calendar.ts';
import type { LoanState } from './state.ts';

/**
 * The day of São Paulo on which the loan ended; null while it is open. A disbursed loan is open until its last installment's month is over
 * and closed batches have counted every installment: `settled` is how many they have.
 */
export function endOf(state: LoanState, settled: number, today: string): string | null {
  if (state.transferOpen) return null;
  switch (state.status) {
    case 'cancelada':
    case 'encerrada_desligamento':
      return dayOf(new Date(state.updatedAt));
    case 'desembolsada': {
      const after = addMonths(`${(state.disbursedOn ?? today).slice(0, 7)}-01`, state.installments + 1);
      return settled < state.installments || today < after ? null : after;
    }
    case 'emitindo':
    case 'em_assinatura':
    case 'aguardando_averbacao':
    case 'averbada':
      return null;
    default:
      return state.status satisfies never;
  }
}
