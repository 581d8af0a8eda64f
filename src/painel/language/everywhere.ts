/** What every page says: the frame, signing in, refusals, and the words of the contract. */
import type { Bilingual } from '../../contract/language.ts';
import type { DeliveryResource } from '../../contract/resources/delivery-resource.ts';
import type { Outcome } from '../../contract/statuses.ts';
import type { Words } from './words.ts';

type Status = DeliveryResource['status'];

export const everywhere = {
  frame: {
    skip: { pt: 'Ir para o conteúdo', en: 'Skip to the content' },
    place: {
      sandbox: { pt: 'Sandbox', en: 'Sandbox' },
      production: { pt: 'Produção', en: 'Production' },
    },
    menu: { pt: 'Páginas', en: 'Pages' },
    deliveries: { pt: 'Entregas', en: 'Deliveries' },
    webhooks: { pt: 'Webhooks', en: 'Webhooks' },
    loans: { pt: 'Empréstimos', en: 'Loans' },
    overview: { pt: 'Visão geral', en: 'Overview' },
    docs: { pt: 'Documentação', en: 'Documentation' },
    signOut: { pt: 'Sair', en: 'Sign out' },
    language: { pt: 'English', en: 'Português' },
    theme: { pt: 'Tema', en: 'Theme' },
    themes: {
      auto: { pt: 'do sistema', en: 'as the system' },
      claro: { pt: 'claro', en: 'light' },
      escuro: { pt: 'escuro', en: 'dark' },
    } as Record<string, Bilingual>,
    apply: { pt: 'Aplicar', en: 'Apply' },
    partner: { pt: 'Parceiro', en: 'Partner' },
    sandbox: { pt: 'Sandbox', en: 'Sandbox' },
    audit: { pt: 'Auditoria', en: 'Audit' },
    operation: { pt: 'Operação', en: 'Operation' },
    events: { pt: 'Eventos', en: 'Events' },
    until: { pt: (time: string) => `sessão até ${time}`, en: (time: string) => `session until ${time}` },
    title: { pt: (page: string) => `${page} · Carteiro`, en: (page: string) => `${page} · Carteiro` },
    timesAre: { pt: 'Fuso', en: 'Time zone' },
  },
  signIn: {
    title: { pt: 'Entrar', en: 'Sign in' },
    intro: {
      pt: 'Entre com um token da API. O que você vê e pode fazer aqui é o que o token permite.',
      en: 'Sign in with a token of the API. You see here, and can do, what the token allows.',
    },
    token: { pt: 'Token', en: 'Token' },
    tokenHint: {
      pt: 'Fica guardado só neste navegador, fora do alcance de scripts, até expirar ou até você sair.',
      en: 'Kept in this browser alone, out of the reach of scripts, until it expires or you sign out.',
    },
    sandbox: { pt: 'Entrar no sandbox', en: 'Enter the sandbox' },
    sandboxHint: {
      pt: 'Sem token à mão? O sandbox faz um, do seu parceiro de exemplo.',
      en: 'No token at hand? The sandbox makes one, for its example partner.',
    },
    ended: {
      pt: 'A sessão terminou: o token expirou ou deixou de valer. Entre de novo.',
      en: 'The session is over: the token expired or is no longer valid. Sign in again.',
    },
    needed: { pt: 'Entre para continuar.', en: 'Sign in to go on.' },
    missing: { pt: 'Cole um token.', en: 'Paste a token.' },
    nothing: {
      pt: 'Este token vale, mas nenhum dos seus escopos abre uma página daqui.',
      en: 'This token is valid, but none of its scopes opens a page here.',
    },
  },
  errors: {
    title: { pt: 'Não foi possível', en: 'Not possible' },
    back: { pt: 'Voltar ao início', en: 'Back to the start' },
    request: { pt: 'Requisição', en: 'Request' },
    foreign: {
      pt: 'O pedido não veio desta página e foi recusado.',
      en: 'The request did not come from this page and was refused.',
    },
    staleForm: {
      pt: 'O formulário é de outra sessão. Abra a página de novo e repita.',
      en: 'The form belongs to another session. Open the page again and repeat.',
    },
    badForm: { pt: 'O formulário não pôde ser lido.', en: 'The form could not be read.' },
    /** What the API says, word by word, where it says it in another language than the page. */
    rules: {
      pt: {} as Record<string, string>,
      en: {
        'é obrigatório': 'is required',
        'é inválido': 'is invalid',
        'deve ser um UUID': 'must be a UUID',
        'deve ser um texto': 'must be a text',
        'deve ser uma lista': 'must be a list',
        'deve ser um objeto': 'must be an object',
        'deve ser um número': 'must be a number',
        'deve ser um número inteiro': 'must be a whole number',
        'campo desconhecido': 'unknown field',
        'deve ter ao menos um campo': 'must have at least one field',
        'informe cabecalhos, autorizacao ou certificado': 'give cabecalhos, autorizacao or certificado',
        'não é um nome de cabeçalho': 'is no name of a header',
        'não é um valor de cabeçalho': 'is no value of a header',
        'tem um nome repetido': 'has a name twice',
        'é um cabeçalho do próprio Carteiro ou da conexão': "is a header of Carteiro's own, or of the connection",
        'não pode ter caracteres de controle': 'must have no control characters',
        'não pode ter dois-pontos nem caracteres de controle': 'must have no colon and no control characters',
        'é o token só, sem espaços e sem "Bearer" à frente':
          'is the token alone, without blanks, and without "Bearer" before it',
        'vai em autorizacao, não em cabecalhos': 'belongs to autorizacao, not to cabecalhos',
        'não é um certificado em PEM': 'is no certificate as PEM',
        'não é a chave desse certificado': 'is not the key of that certificate',
        'não é uma chave privada em PEM, sem senha': 'is no private key as PEM, without a password',
        'deve ter ao menos um evento': 'must have at least one event',
        'deve ser um status HTTP de 100 a 599': 'must be an HTTP status from 100 to 599',
        'deve ser o proximo_cursor de uma resposta desta lista': 'must be the cursor of an earlier page of this list',
        'deve ser uma data AAAA-MM-DD ou um instante ISO 8601 com fuso, como 2026-01-31T12:00:00Z':
          'must be a date YYYY-MM-DD or an ISO 8601 instant with its offset',
      } as Record<string, string>,
    },
  },
  words: {
    copy: { pt: 'Copiar', en: 'Copy' },
    copied: { pt: 'Copiado', en: 'Copied' },
    all: { pt: 'todos', en: 'all' },
    search: { pt: 'Buscar', en: 'Search' },
    clear: { pt: 'Limpar', en: 'Clear' },
    next: { pt: 'Próxima página', en: 'Next page' },
    cancel: { pt: 'Cancelar', en: 'Cancel' },
    ms: { pt: (count: number) => `${count} ms`, en: (count: number) => `${count} ms` },
    soon: { pt: 'agora', en: 'now' },
    csv: { pt: 'Baixar CSV', en: 'Download CSV' },
    pause: { pt: 'Pausar', en: 'Pause' },
    goOn: { pt: 'Continuar', en: 'Go on' },
  },
  status: {
    pendente: { pt: 'pendente', en: 'pending' },
    entregue: { pt: 'entregue', en: 'delivered' },
    erro: { pt: 'erro', en: 'failed' },
    suspensa: { pt: 'suspensa', en: 'suspended' },
  } satisfies Record<Status, Bilingual>,
  outcome: {
    entregue: { pt: 'entregue', en: 'delivered' },
    resposta_nao_2xx: { pt: 'resposta não 2xx', en: 'answer not 2xx' },
    tempo_esgotado: { pt: 'tempo esgotado', en: 'timed out' },
    erro_conexao: { pt: 'erro de conexão', en: 'connection error' },
    erro_tls: { pt: 'erro de TLS', en: 'TLS error' },
    erro_autorizacao: { pt: 'sem token', en: 'no token' },
    destino_recusado: { pt: 'destino recusado', en: 'target refused' },
    desconhecido: { pt: 'desconhecido', en: 'unknown' },
  } satisfies Record<Outcome, Bilingual>,
} satisfies Words;
