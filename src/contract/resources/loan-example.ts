/** The loan of every example, in the description and in the commands that `npm start` prints. Worker and employer are invented. */
export const LOAN_EXAMPLE = {
  cpf_trabalhador: '52998224725',
  nome_trabalhador: 'Maria da Silva',
  matricula: '1001',
  cnpj_empregador: '11222333000181',
  valor_liberado: 5000,
  numero_parcelas: 24,
  valor_parcela: 267.5,
};
