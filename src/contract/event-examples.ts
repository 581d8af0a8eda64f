/** One example of each event, for documentation and tests. No loan has these ids and number: ours are of the present. */
import type { EventData, SubscribableName } from './events.ts';
import { LOAN_EXAMPLE } from './resources/loan-example.ts';
import { CLOSED_FOR_END_OF_BOND } from './statuses.ts';

const idOf = (digit: number) => `00000000-0000-7000-8000-00000000000${digit}`;
const loan = { emprestimo_id: idOf(1) };
const numbered = { ...loan, numero_emprestimo: '0000-00000000' };
const registration = { ...loan, averbacao_id: idOf(2) };
const { cpf_trabalhador, nome_trabalhador, matricula, cnpj_empregador, valor_liberado, valor_parcela } = LOAN_EXAMPLE;

const failing = {
  webhook_id: idOf(6),
  parceiro_id: idOf(7),
  host: 'parceiro.example.com',
  primeira_falha_em: '2026-01-30T11:30:00.000Z',
  falhando_desde: '2026-01-31T12:00:00.000Z',
  falhas: 120,
  ultimo_resultado: 'resposta_nao_2xx',
  ultimo_status_http: 503,
} as const;

const losing = {
  webhook_id: idOf(6),
  host: 'parceiro.example.com',
  desde: '2026-01-31T12:00:00.000Z',
  entregas: 12,
  primeira_entrega_id: idOf(8),
  ultimo_resultado: 'resposta_nao_2xx',
  ultimo_status_http: 503,
} as const;

/** Keys in catalog order. */
export const EVENT_EXAMPLES: { readonly [N in SubscribableName]: EventData<N> } = {
  'autorizacao.confirmada': { autorizacao_id: idOf(3), cpf_trabalhador, status: 'confirmada', origem: 'web' },
  'margem.concluida': {
    cpf_trabalhador,
    cnpj_empregador,
    consulta_margem_id: idOf(4),
    salario_bruto: 5000,
    margem_disponivel: 1750,
    margem_percentual: 0.35,
  },
  'margem.falhou': {
    cpf_trabalhador,
    cnpj_empregador,
    tipo_erro: 'upstream',
    erro: 'o registry não respondeu em 30 s',
  },
  'emprestimo.emitido': { ...loan, numero: numbered.numero_emprestimo, valor_liberado },
  'emprestimo.emissao_falhou': { ...loan, motivo: 'tentativas de emissão esgotadas' },
  'assinatura.concluida': { ...loan, tipo_assinatura: 'internal' },
  'assinatura.pendente': { ...numbered, ccb_assinada_recebida: true },
  'docs_registry.pendente': { ...numbered, prazo: '2026-02-15' },
  'docs_registry.recebido': numbered,
  'averbacao.concluida': { ...registration, protocolo_registry: 'REG-2DCA4C14FF77347F' },
  'averbacao.falhou': { ...registration, erro: 'margem insuficiente' },
  'desembolso.liquidado': { ...numbered, valor_liberado, data_liberacao: '2026-01-31' },
  'desembolso.falhou': { ...numbered, motivo: 'conta de destino encerrada' },
  'trabalhador.desligado': {
    ...numbered,
    cpf_trabalhador,
    matricula,
    nome_trabalhador,
    data_desligamento: '2026-01-31',
    motivo_desligamento: { codigo: '02', descricao: 'Dispensa sem justa causa' },
    situacao_emprestimo: CLOSED_FOR_END_OF_BOND,
  },
  'trabalhador.vinculo_novo': {
    cpf_trabalhador,
    nome_trabalhador,
    novo_empregador: { cnpj: '11444777000161', nome: 'Nova Empregadora Ltda' },
    data_admissao: '2026-01-31',
    margem_disponivel: 1750,
    ...loan,
    saldo_pendente: LOAN_EXAMPLE.numero_parcelas * valor_parcela,
    averbavel: true,
  },
  'repasse.processado': {
    repasse_id: idOf(5),
    competencia: '2026-01',
    total_parcelas: 1,
    numero_ccbs: 1,
    valor_total: valor_parcela,
    fechado_em: '2026-02-01T12:00:00.000Z',
  },
  'webhook.falhando': {
    ...failing,
    suspende_em: '2026-02-05T12:00:00.000Z',
    o_que_fazer:
      'Corrija o endpoint, ou troque a URL com PATCH /v1/webhooks/{id}. Uma resposta 2xx encerra o estado, e POST /v1/webhooks/{id}/teste pede uma na hora.',
  },
  'webhook.suspenso': {
    ...failing,
    suspenso_em: '2026-02-05T12:00:00.000Z',
    o_que_fazer:
      'Corrija o endpoint e reative o webhook com PATCH /v1/webhooks/{id}, ativo e retomar em true, que retoma as entregas suspensas.',
  },
  'webhook.atraso': losing,
  'webhook.erro': losing,
};
