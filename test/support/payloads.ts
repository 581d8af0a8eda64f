/** Payloads of the catalog as JSON text, for tests that append straight through SQL. */
const LOAN = '00000000-0000-7000-8000-000000000000';

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

/** A failed disbursement of this loan. */
export function failedDisbursementOf(loanId: string): string {
  return FAILED_DISBURSEMENT.replace(LOAN, loanId);
}

/** An internal fact, which no partner is sent. */
export const RECEIVED_DOCUMENT = JSON.stringify({ emprestimo_id: LOAN, tipo: 'selfie', sha256: '0'.repeat(64) });
