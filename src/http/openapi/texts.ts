/** What the description says in words; a scope or an event without its words does not compile. */
import { RESERVED_NAMES } from '../../contract/events.ts';
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
  operador: 'ver no painel, sem parceiro, a fila e os pollers de todos, e definir limites',
  sandbox: 'fazer o papel dos sistemas em volta do serviço, onde há sandbox',
};

export const TAG_MEANING: Readonly<Record<string, string>> = {
  webhooks: 'Webhooks: para onde e quais eventos são enviados.',
  entregas: 'Entregas: um evento para um webhook, com suas tentativas.',
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

export const GUARANTEE_MEANING = {
  guaranteed: 'Garantido: é sempre entregue quando o fato acontece.',
  conditional: 'Condicional: depende da conta ou do caminho; não espere por ele.',
} as const;
