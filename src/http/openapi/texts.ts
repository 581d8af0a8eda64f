/** The texts of the description. A scope without a text does not compile. */
import { RESERVED_NAMES } from '../../contract/events.ts';
import type { Bilingual, Language } from '../../contract/language.ts';
import type { Scope } from '../../contract/statuses.ts';

export const SCOPE_MEANING: Readonly<Record<Scope, Bilingual>> = {
  'webhooks:read': {
    pt: 'ler os webhooks do parceiro, suas entregas e seus eventos',
    en: "read the partner's webhooks, their deliveries and its events",
  },
  'webhooks:write': {
    pt: 'registrar e alterar webhooks, e reenviar entregas',
    en: 'register and change webhooks, and resend deliveries',
  },
  'webhooks:mascarado': {
    pt: 'ler o que webhooks:read lê, com CPFs, nomes e consultas (query) de URLs mascarados',
    en: 'read what webhooks:read reads, with CPFs, names and query strings of URLs masked',
  },
  'emprestimos:read': { pt: 'ler os empréstimos do parceiro', en: "read the partner's loans" },
  'emprestimos:write': {
    pt: 'emitir empréstimos, enviar documentos e pedir averbações',
    en: 'issue loans, send documents and ask for registrations',
  },
  'margem:read': { pt: 'consultar margens', en: 'query margins' },
  'vinculos:read': {
    pt: 'ler os desligamentos e os novos vínculos detectados',
    en: 'read the ends of bond and rehires that were detected',
  },
  'auditoria:read': {
    pt: 'auditar tentativas, balanço e provas de todos os parceiros',
    en: 'audit attempts, balance and evidence of all partners',
  },
  'auditoria:cpf': {
    pt: 'ver, com auditoria:read, CPFs, consultas (query) de URLs e provas inteiras, que sem ele vêm mascarados',
    en: 'see, with auditoria:read, CPFs, query strings of URLs and whole evidence, which are masked without it',
  },
  nucleo: {
    pt: 'registrar, como o núcleo de crédito do próprio serviço, fatos dos empréstimos de todos os parceiros',
    en: "record, as the service's own loan core, facts of the loans of all partners",
  },
  operador: {
    pt: 'ver, sem parceiro, a fila e os pollers de todos; silenciar e limitar webhooks, e desligar parceiros',
    en: 'see, without a partner, the queue and the pollers of all; mute and cap webhooks, and let partners go',
  },
  sandbox: {
    pt: 'fazer o papel dos sistemas em volta do serviço, onde há sandbox',
    en: 'play the systems around the service, where there is a sandbox',
  },
};

export const TAG_MEANING: Readonly<Record<string, Bilingual>> = {
  webhooks: {
    pt: 'Webhooks: para onde e quais eventos são enviados.',
    en: 'Webhooks: where events are sent, and which.',
  },
  entregas: {
    pt: 'Entregas: um evento para um webhook, com suas tentativas.',
    en: 'Deliveries: one event for one webhook, with its attempts.',
  },
  alertas: { pt: 'Avisos a pessoas do parceiro.', en: 'Alerts to people of the partner.' },
  enderecos: { pt: 'De onde partem as entregas.', en: 'Where deliveries come from.' },
  resumo: { pt: 'Como vão os envios ao parceiro.', en: "How the partner's deliveries fare." },
  eventos: {
    pt: 'O fluxo de eventos do parceiro, para recuperar o que se perdeu.',
    en: "The feed of the partner's events, to recover what was lost.",
  },
  emprestimos: {
    pt: 'Empréstimos, seus documentos e sua averbação.',
    en: 'Loans, their documents and their registration.',
  },
  margem: { pt: 'Consulta da margem de um trabalhador.', en: "Query of a worker's margin." },
  vinculos: { pt: 'Desligamentos e novos vínculos detectados.', en: 'Ends of bond and rehires that were detected.' },
  auditoria: { pt: 'Evidência para auditores.', en: 'Evidence for auditors.' },
  operador: {
    pt: 'O que um operador vê e muda, de todos os parceiros.',
    en: 'What an operator sees and changes, of all partners.',
  },
  nucleo: {
    pt: 'A porta do núcleo de crédito do próprio serviço, com um token sem parceiro: o parceiro é o do empréstimo, ou vem no corpo.',
    en: "The door of the service's own loan core, with a token without a partner: the partner is the loan's, or comes in the body.",
  },
  sandbox: {
    pt: 'Os sistemas em volta do serviço, representados pelo próprio parceiro. Só onde há sandbox.',
    en: 'The systems around the service, played by the partner. Only where there is a sandbox.',
  },
};

/** The tags of operations that are not the partner's, each with whose they are, in the order of the reference. */
export const TAG_AUDIENCE: Readonly<Record<string, Bilingual>> = {
  auditoria: { pt: 'Auditor', en: 'Auditor' },
  operador: { pt: 'Operador', en: 'Operator' },
  nucleo: { pt: 'Núcleo de crédito', en: 'Loan core' },
};
export const DESCRIPTION_PATHS: Readonly<Record<Language, string>> = { pt: '/openapi.json', en: '/openapi.en.json' };
/** Whose operations a description has. */
export const AUDIENCES = ['parceiro', 'nucleo', 'operador', 'auditoria', 'tudo'] as const;
export type Audience = (typeof AUDIENCES)[number];
export const PARTNER: Bilingual = { pt: 'Parceiro', en: 'Partner' };

const RESERVED = RESERVED_NAMES.map((name) => `\`${name}\``);

export const INTRODUCTION: Bilingual = {
  pt: `Webhooks do crédito consignado. O parceiro registra URLs, recebe cada evento como um POST
assinado, e pode sempre ler o empréstimo para se reconciliar.

Ids são UUIDs; instantes são ISO 8601 em UTC, com milissegundos; valores são números em reais, com no máximo duas casas.
Toda recusa tem o mesmo corpo, o componente \`Erro\`. Um caminho conhecido com outro método é \`405\`
(\`METODO_NAO_PERMITIDO\`, com \`Allow\`); um desconhecido é \`404\` (\`NAO_ENCONTRADO\`). O que não pôde ser lido como HTTP, ou
traz um \`Expect\` desconhecido, é \`400\` (\`ERRO_VALIDACAO\`).

Os eventos que o serviço envia estão em \`webhooks\`. Os nomes ${RESERVED.join(' e ')} são reservados e
nunca emitidos.`,
  en: `Webhooks of payroll credit. A partner registers URLs, receives each event as a signed POST,
and can always read the loan to reconcile.

Ids are UUIDs; instants are ISO 8601 in UTC, with milliseconds; amounts are numbers in reais, with at most two decimals.
Every refusal has the same body, the component \`Erro\`. A known path with another method is \`405\`
(\`METODO_NAO_PERMITIDO\`, with \`Allow\`); an unknown one is \`404\` (\`NAO_ENCONTRADO\`). A request that cannot be read as HTTP,
or has an unknown \`Expect\`, is \`400\` (\`ERRO_VALIDACAO\`).

The events that the service sends are in \`webhooks\`. The names ${RESERVED.join(' and ')} are reserved and
never emitted.`,
};

export const TOKEN_TEXT: Bilingual = {
  pt: `Um JWT assinado com RS256, PS256, ES256 ou EdDSA, com \`iss\`, \`aud\`, \`exp\`, \`iat\`, \`sub\`, e
\`parceiro_id\`, o parceiro (ausente no de um auditor e no do núcleo). Os escopos vêm em \`scope\`, separados por espaços, ou em \`scp\`, uma lista:`,
  en: `A JWT signed with RS256, PS256, ES256 or EdDSA, with \`iss\`, \`aud\`, \`exp\`, \`iat\`, \`sub\`, and
\`parceiro_id\`, the partner (absent from an auditor's and the core's). Scopes come in \`scope\`, separated by spaces, or in \`scp\`, a list:`,
};

export const GUARANTEE_MEANING: Readonly<Record<'guaranteed' | 'conditional', Bilingual>> = {
  guaranteed: {
    pt: 'Garantido: é sempre entregue quando o fato acontece.',
    en: 'Guaranteed: it is always delivered when the fact happens.',
  },
  conditional: {
    pt: 'Condicional: depende da conta ou do caminho; não espere por ele.',
    en: 'Conditional: it depends on the account or the path; do not wait for it.',
  },
};

/** The defined texts, with an empty line between them. */
export function paragraphs(...texts: readonly (string | undefined)[]): string {
  return texts.filter((text) => text !== undefined).join('\n\n');
}

export const CREDENTIALS_DESCRIPTION = {
  pt:
    'O que o gateway do receptor exige em cada POST: até 4 cabeçalhos, uma autorização (basic, bearer ou oauth2 com client ' +
    'credentials), um certificado de cliente. PUT substitui tudo; a resposta traz nomes e tipos, nunca um segredo. O token de ' +
    'oauth2 é pedido uma vez e usado até 60 s antes do fim; depois de um 401 é pedido de novo. Sem token a tentativa termina em ' +
    'erro_autorizacao, sem POST.',
  en: "What the receiver's gateway demands of each POST: up to 4 headers, one authorization (basic, bearer, or oauth2 by client credentials), a client certificate. PUT replaces all; the answer has names and kinds, never a secret. The token of oauth2 is asked for once and used until 60 s before its end; after a 401 it is asked for anew. Without a token the attempt ends in erro_autorizacao, without a POST.",
};
