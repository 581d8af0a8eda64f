/**
 * An example for every field of a body that has no format, pattern or list of values to make one from. By name, because
 * a name means the same wherever it occurs; where a text and a number share one, by both.
 */
const TEXTS: Readonly<Record<string, string>> = {
  autor: 'core-banking',
  chave_id: '080ab022',
  checkpoint:
    'carteiro.example.com/log\n7\nqZ0JgD4h2o3f7c8mB1x5yT6uV9wA0eC2gI4kM6oQ8s0=\n\n— carteiro.example.com/log Az3grl…\n',
  codigo: '02',
  corpo: '{"evento":"desembolso.falhou","timestamp":"2026-01-31T12:00:00.000Z"}',
  conteudo_base64: 'JVBERi0xLjcK',
  cursor: 'NzkzIDQgdXhfNUFmT0pBSjU2eGllQQ',
  descricao: 'Dispensa sem justa causa',
  detalhe: 'o webhook estava ativo e inscrito no evento, e não há entrega',
  endereco: '203.0.113.7',
  erro: 'TEMPO_ESGOTADO: sem resposta em 30000 ms',
  evento: 'averbacao.concluida',
  familia: 'backoffice',
  host: 'parceiro.example.com',
  entrada:
    'carteiro/selo/1\n7\n1 793 1 1042\n250\nqZ0JgD4h2o3f7c8mB1x5yT6uV9wA0eC2gI4kM6oQ8s0=\n2026-01-31T12:00:00.000Z\n',
  retido: 'CPFs e consultas de URLs; o corpo exato, as respostas e os sais',
  matricula: '1001',
  mensagem: 'a requisição tem dados inválidos',
  motivo: 'conta de destino encerrada',
  nome: 'Nova Empregadora Ltda',
  nome_arquivo: 'ccb-assinada.pdf',
  nome_trabalhador: 'Maria da Silva',
  o_que_fazer: 'Corrija o endpoint, ou troque a URL com PATCH /v1/webhooks/{id}.',
  numero: '2026-00000001',
  numero_emprestimo: '2026-00000001',
  parceiro: 'Parceiro Um',
  poller: 'poller-1',
  protocolo_registry: 'REG-2DCA4C14FF77347F',
  proximo_cursor: 'NzkzIDQgdXhfNUFmT0pBSjU2eGllQQ',
  reivindicacao: 'poller-1/12',
  requisicao_id: '019a6e0b-7f3c-7d52-9a41-5c1d2e3f4a5b',
  resposta: '{"ok":true}',
  secret: `whsec_${Buffer.from('um exemplo, nunca um segredo: 32').toString('base64')}`,
  url: 'https://parceiro.example.com/carteiro',
  valor: 'application/json',
};

const NUMBERS: Readonly<Record<string, number>> = {
  avancar_segundos: 3_600,
  desconhecido: 0,
  desligamentos: 1,
  destino_recusado: 0,
  duracao_ms: 142,
  em_andamento: 2,
  em_erro: 1,
  entregas: 40,
  entregas_adiantadas: 3,
  entregue: 118,
  entregues: 1_180,
  epoca_final: 1,
  erro: 1,
  erro_conexao: 2,
  erro_tls: 0,
  esperadas: 120,
  eventos: 60,
  espera_mais_longa_s: 4.2,
  falhando: 0,
  falhas: 3,
  falhas_seguidas: 0,
  falhas_ultima_hora: 40,
  indice: 41,
  limite: 64,
  linhas: 250,
  margem_percentual: 0.35,
  novos: 1,
  numero: 1,
  numero_ccbs: 12,
  numero_parcelas: 24,
  importados: 0,
  p50_ms: 84,
  p95_ms: 310,
  p99_ms: 480,
  passo_s: 60,
  pendente: 1,
  pendentes: 12,
  resposta_nao_2xx: 3,
  saldo_pendente: 4_280.5,
  selo: 7,
  status_http: 200,
  ultimo_status_http: 200,
  silenciados: 1,
  suspensa: 0,
  suspensas: 0,
  tempo_esgotado: 1,
  tentativas: 12.3,
  tentativas_ultimo_minuto: 740,
  total_diferencas: 0,
  total_parcelas: 12,
  total_tentativas: 1,
  vencida_ha_s: 4.2,
  vencidas: 2,
  valor_total: 3_210.75,
  versao: 4,
  versao_emprestimo: 4,
  visto_ha_s: 0.1,
};

const MADE_FROM = ['$ref', 'enum', 'const', 'format', 'examples'];

/** The schema of the field called `name`, with an example where it needs one. */
export function withExample(
  name: string,
  schema: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  if (MADE_FROM.some((key) => key in schema)) return schema;
  const types = [schema.type].flat();
  const example = types.includes('string') ? TEXTS[name] : NUMBERS[name];
  const isScalar = types.some((type) => type === 'string' || type === 'integer' || type === 'number');
  return isScalar && example !== undefined ? { ...schema, examples: [example] } : schema;
}
