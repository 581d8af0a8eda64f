/** An example for each field without a format, pattern or list of values: texts by their name, which means the same everywhere. */
const TEXTS: Readonly<Record<string, string>> = {
  assunto: 'CN=carteiro',
  audiencia: 'https://parceiro.example.com',
  autor: 'core-banking',
  chave_id: '080ab022',
  chave_pem: '-----BEGIN PRIVATE KEY-----\nMIGH…\n-----END PRIVATE KEY-----\n',
  checkpoint:
    'carteiro.example.com/log\n7\nqZ0JgD4h2o3f7c8mB1x5yT6uV9wA0eC2gI4kM6oQ8s0=\n\n— carteiro.example.com/log Az3grl…\n',
  client_id: 'carteiro',
  client_secret: 'um exemplo, nunca um segredo',
  codigo: '02',
  corpo: '{"evento":"desembolso.falhou","timestamp":"2026-01-31T12:00:00.000Z"}',
  conteudo_base64: 'JVBERi0xLjcK',
  cursor: 'NzkzIDQgdXhfNUFmT0pBSjU2eGllQQ',
  dados: '{"emprestimo_id":"019a6e0b-7f3c-7d52-9a41-5c1d2e3f4a5b"}',
  descricao: 'Dispensa sem justa causa',
  detalhe: 'o webhook estava ativo e inscrito no evento, e não há entrega',
  emissor: 'CN=Parceiro CA',
  endereco: '203.0.113.7',
  erro: 'TEMPO_ESGOTADO: sem resposta em 30000 ms',
  escopo: 'webhooks',
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
  pem: '-----BEGIN CERTIFICATE-----\nMIIB…\n-----END CERTIFICATE-----\n',
  poller: 'poller-1',
  protocolo_registry: 'REG-2DCA4C14FF77347F',
  proximo_cursor: 'NzkzIDQgdXhfNUFmT0pBSjU2eGllQQ',
  reivindicacao: 'poller-1/12',
  requisicao_id: '019a6e0b-7f3c-7d52-9a41-5c1d2e3f4a5b',
  resposta: '{"ok":true}',
  resposta_cabecalhos: 'content-type: application/json',
  primeira_transacao: '793',
  senha: 'um exemplo, nunca um segredo',
  sha256: 'a99d09803876da8ddfa7bf1cc75e9fa56c7d0680a81e37f9f21e2a80ea38d2b4',
  secret: `whsec_${Buffer.from('um exemplo, nunca um segredo: 32').toString('base64')}`,
  tentativas_depois: 'MTUxIGZhbHNlIHV4XzVBZk9KQUo1Nng',
  token_url: 'https://login.parceiro.example.com/oauth/token',
  transacao: '812',
  transacao_final: '1042',
  url: 'https://parceiro.example.com/carteiro',
  usuario: 'carteiro',
  valor: 'application/json',
};

/** Of the numbers those that a client sends, or knows by heart. */
const NUMBERS: Readonly<Record<string, number>> = {
  avancar_segundos: 3_600,
  limite: 64,
  numero_parcelas: 24,
  status_http: 200,
  ultimo_status_http: 200,
};

const MADE_FROM = ['$ref', 'enum', 'const', 'format', 'examples'];

/** The schema of the field called `name`, with an example where it needs one. */
export function withExample(
  name: string,
  schema: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  if (MADE_FROM.some((key) => key in schema)) return schema;
  const types = new Set([schema.type].flat());
  const example = types.has('string')
    ? TEXTS[name]
    : types.has('integer')
      ? (NUMBERS[name] ?? 1)
      : types.has('number')
        ? 0.5
        : undefined;
  return example === undefined ? schema : { ...schema, examples: [example] };
}
