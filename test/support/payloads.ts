/** Payloads of the catalog as JSON text, for tests that append straight through SQL. */

/** The loan that they name, whose stream is the only one that takes them. */
export const LOAN = '00000000-0000-7000-8000-000000000000';

export const FAILED_DISBURSEMENT = JSON.stringify({
  emprestimo_id: LOAN,
  numero_emprestimo: '2026-00000001',
  motivo: 'conta encerrada',
});

export const FAILED_MARGIN = JSON.stringify({
  cpf_trabalhador: '52998224725',
  cnpj_empregador: '11222333000181',
  tipo_erro: 'upstream',
  erro: 'fora do ar',
});

export const PROCESSED_SETTLEMENT = JSON.stringify({
  repasse_id: LOAN,
  competencia: '2026-01',
  total_parcelas: 0,
  numero_ccbs: 0,
  valor_total: 0,
  fechado_em: '2026-02-01T03:00:00.000Z',
});

/** A failed disbursement of this loan. */
export function failedDisbursementOf(loanId: string): string {
  return FAILED_DISBURSEMENT.replace(LOAN, loanId);
}

/** An internal event, which is never delivered. */
export const RECEIVED_DOCUMENT = JSON.stringify({ emprestimo_id: LOAN, tipo: 'selfie', sha256: '0'.repeat(64) });
