/** What the description says in words; a scope or an event without its words does not compile. */
import { type EmittedName, RESERVED_NAMES } from '../../contract/events.ts';
import type { Scope } from '../../contract/statuses.ts';

export const SCOPE_MEANING: Readonly<Record<Scope, string>> = {
  'webhooks:read': 'ler os webhooks do parceiro, suas entregas e seus eventos',
  'webhooks:write': 'registrar e alterar webhooks, e reenviar entregas',
  'emprestimos:read': 'ler os empréstimos do parceiro',
  'emprestimos:write': 'emitir empréstimos, enviar documentos e pedir averbações',
  'margem:read': 'consultar margens',
  'vinculos:read': 'ler os desligamentos e os novos vínculos detectados',
  'auditoria:read': 'auditar tentativas, balanço e provas de todos os parceiros',
  'auditoria:cpf':
    'ver, com auditoria:read, CPFs, consultas (query) de URLs e provas inteiras, que sem ele vêm mascarados',
  nucleo: 'registrar, como o núcleo de crédito do próprio serviço, fatos dos empréstimos de todos os parceiros',
  sandbox: 'fazer o papel dos sistemas em volta do serviço, onde há sandbox',
};

export const TAG_MEANING: Readonly<Record<string, string>> = {
  webhooks: 'Registros de webhooks: para onde e quais eventos são enviados.',
  entregas: 'Entregas: um evento para um registro, com suas tentativas.',
  eventos: 'O fluxo de eventos do parceiro, para recuperar o que se perdeu.',
  emprestimos: 'Empréstimos, seus documentos e sua averbação.',
  margem: 'Consulta da margem de um trabalhador.',
  vinculos: 'Desligamentos e novos vínculos detectados.',
  auditoria: 'Evidência para auditores.',
  nucleo:
    'A porta do núcleo de crédito do próprio serviço, com um token sem parceiro: o parceiro é o do empréstimo, ou vem no corpo.',
  sandbox: 'Os sistemas em volta do serviço, representados pelo próprio parceiro. Só onde há sandbox.',
};

export const INTRODUCTION = `Webhooks do crédito consignado. O parceiro registra URLs, recebe cada evento como um POST
assinado, e pode sempre ler o empréstimo para se reconciliar.

Ids são UUIDs; instantes são ISO 8601 em UTC, com milissegundos; valores são números em reais, com no máximo duas casas.
Toda recusa tem o mesmo corpo, o componente \`Erro\`. Um caminho conhecido com outro método é \`405\`
(\`METODO_NAO_PERMITIDO\`, com \`Allow\`); um desconhecido é \`404\` (\`NAO_ENCONTRADO\`). O que não pôde ser lido como HTTP, ou
traz um \`Expect\` desconhecido, é \`400\` (\`ERRO_VALIDACAO\`).

Os eventos que o serviço envia estão em \`webhooks\`. Os nomes ${RESERVED_NAMES.map((name) => `\`${name}\``).join(' e ')} são reservados e
nunca emitidos.`;

export const TOKEN_TEXT = `Um JWT assinado com RS256, PS256, ES256 ou EdDSA, com \`iss\`, \`aud\`, \`exp\`, \`iat\`, \`sub\`, e
\`parceiro_id\`, o parceiro (ausente no de um auditor e no do núcleo). Os escopos vêm em \`scope\`, separados por espaços, ou em \`scp\`, uma lista:`;

interface EventMeaning {
  /** One line, read in a list beside the event's name. */
  readonly summary: string;
  readonly more?: string;
}

/** When each event fires (contract, "Catalog" and "Guarantee matrix"). */
export const EVENT_MEANING: Readonly<Record<EmittedName, EventMeaning>> = {
  'autorizacao.confirmada': { summary: 'O trabalhador aceitou a autorização de consulta' },
  'margem.concluida': {
    summary: 'Uma consulta de margem chegou ao registry e terminou bem',
    more: 'Não é emitido quando a resposta vem do cache, e não confirma a consulta do próprio parceiro, cuja resposta 200 já é a confirmação.',
  },
  'margem.falhou': { summary: 'Uma consulta de margem falhou no registry' },
  'emprestimo.emitido': {
    summary: 'Uma emissão respondida com 202 terminou',
    more: '`numero` é o definitivo.',
  },
  'emprestimo.emissao_falhou': {
    summary: 'Uma emissão respondida com 202 foi abandonada',
    more: 'O empréstimo está cancelado e pode ser emitido de novo com outra Idempotency-Key.',
  },
  'assinatura.concluida': {
    summary: 'A assinatura terminou',
    more: 'Com assinatura externa, o pacote assinado completo foi recebido e arquivado.',
  },
  'assinatura.pendente': {
    summary: 'O empréstimo passou a aguardando_averbacao com o pacote assinado incompleto',
    more: 'Só na entrega diferida.',
  },
  'docs_registry.pendente': {
    summary: 'A averbação abriu a obrigação de entregar documentos, com prazo',
    more: 'Só na entrega diferida.',
  },
  'docs_registry.recebido': { summary: 'Os documentos foram recebidos', more: 'Só na entrega diferida.' },
  'averbacao.concluida': { summary: 'A averbação foi gravada no registry' },
  'averbacao.falhou': { summary: 'A averbação falhou; pode ser pedida de novo' },
  'desembolso.liquidado': { summary: 'A transferência foi liquidada' },
  'desembolso.falhou': { summary: 'A transferência falhou' },
  'trabalhador.desligado': {
    summary: 'Terminou o vínculo de um trabalhador com empréstimo',
    more: 'A sincronização noturna detectou, pela primeira vez, o fim do vínculo; o empréstimo foi encerrado.',
  },
  'trabalhador.vinculo_novo': {
    summary: 'Foi recontratado um trabalhador cujo empréstimo tinha sido encerrado por desligamento',
    more: 'A sincronização noturna detectou a recontratação pela primeira vez.',
  },
  'repasse.processado': {
    summary: 'O repasse do mês foi fechado e consolidado',
    more: 'Conta também as parcelas de meses que tinham fechado antes do desembolso do empréstimo.',
  },
};

export const GUARANTEE_MEANING = {
  guaranteed: 'Garantido: é sempre entregue quando o fato acontece.',
  conditional: 'Condicional: depende da conta ou do caminho; não espere por ele.',
} as const;
