/**
 * What a use case answers: `{ ok }`, or `{ refused }` with the reason; reads answer null for what is not there. A transaction whose
 * work ends refused is rolled back (db/transaction.ts).
 *
 * One table has every refusal: its code, which gives the status, and its text, made of what the refusal carries. A use case names
 * the kinds that it may answer; a route may only pass on those whose code its operation declares.
 */
import type { ErrorCode, ErrorDetail } from './errors.ts';
import { MAX_ACTIVE_WEBHOOKS, MAX_WAIT_H } from './resources/webhook.ts';
import type { DELIVERY_STATUSES, LoanStatus } from './statuses.ts';

export interface RefusalText {
  readonly text: string;
  readonly details?: readonly ErrorDetail[];
  readonly headers?: Readonly<Record<string, string>>;
}

type Saying = string | RefusalText;

interface Until {
  readonly until: Date;
}

/** The text of every 400 for wrong fields, found by a schema or by a use case. */
export const INVALID_FIELDS = 'a requisição tem dados inválidos';

function wrong(campo: string, mensagem: string): RefusalText {
  return { text: INVALID_FIELDS, details: [{ campo, mensagem }] };
}

const later = (text: string, seconds: number): RefusalText => ({ text, headers: { 'Retry-After': String(seconds) } });

const REFUSALS = {
  /** There is none of that id, or it is another partner's: both look alike. */
  notFound: ['NAO_ENCONTRADO', 'recurso não encontrado'],
  unknownWorker: ['NAO_ENCONTRADO', 'nada é guardado sob este CPF'],
  noCpfScope: [
    'ESCOPO_INSUFICIENTE',
    {
      text: 'o token não tem o escopo auditoria:cpf',
      headers: { 'WWW-Authenticate': 'Bearer error="insufficient_scope", scope="auditoria:cpf"' },
    },
  ],
  noWorkerKey: ['INDISPONIVEL', later('nenhuma chave para achar trabalhadores está configurada (WORKER_KEY_FILE)', 60)],
  loanOpen: [
    'TRANSICAO_INVALIDA',
    ({ loanId, status }: { readonly loanId: string; readonly status: LoanStatus }) =>
      `o empréstimo ${loanId} do trabalhador está aberto: o status é ${status}`,
  ],
  /** `until`: the first day on which the data may be erased. */
  legalPeriod: [
    'TRANSICAO_INVALIDA',
    ({ until }: { readonly until: string }) =>
      `a lei manda guardar os dados até ${until}; antes, só por ordem judicial`,
  ],
  erased: ['TRANSICAO_INVALIDA', 'os dados deste evento foram apagados; não há o que enviar'],
  /** The loan's state does not allow the command. `what` cannot be done, said in Portuguese; `why` adds to the status. */
  loanState: [
    'TRANSICAO_INVALIDA',
    ({ what, status, why }: { readonly what: string; readonly status: LoanStatus; readonly why: string | null }) =>
      `${what}: o status do empréstimo é ${status}${why === null ? '' : `, ${why}`}`,
  ],
  /** The state would allow it, but what was sent does not fit the loan. */
  mismatch: [
    'ERRO_VALIDACAO',
    ({ what, details }: { readonly what: string; readonly details: readonly ErrorDetail[] }) => ({
      text: what,
      details,
    }),
  ],
  unknownPartner: ['ERRO_VALIDACAO', wrong('parceiro_id', 'não é um parceiro')],
  unknownMarginQuery: [
    'ERRO_VALIDACAO',
    wrong('consulta_margem_id', 'não é uma consulta de margem deste trabalhador com este empregador'),
  ],
  /** The lender's core gave an id or a number that something has already. */
  taken: [
    'TRANSICAO_INVALIDA',
    ({ field, value }: { readonly field: string; readonly value: string }) => ({
      text: `${field} ${value} já está em uso`,
      details: [{ campo: field, mensagem: 'já está em uso' }],
    }),
  ],
  noRegistry: ['INDISPONIVEL', later('nenhum registry está configurado', 60)],
  marginRefused: [
    'MARGEM_NEGOCIAL',
    ({ error }: { readonly error: string }) => `o registry recusou a consulta: ${error}`,
  ],
  /** The registry could not be asked, or gave no usable answer. */
  marginFailed: [
    'MARGEM_UPSTREAM',
    ({ error }: { readonly error: string }) => `a consulta ao registry falhou: ${error}`,
  ],
  /** `month`, `YYYY-MM`, is not over in São Paulo. */
  monthNotOver: [
    'TRANSICAO_INVALIDA',
    ({ month }: { readonly month: string }) =>
      `Não é possível fechar o repasse: a competência ${month} ainda não terminou`,
  ],
  monthRemoved: [
    'TRANSICAO_INVALIDA',
    ({ month, day }: { readonly month: string; readonly day: string }) =>
      `entregas de ${day} estão só no arquivo de ${month}: peça à operação que restaure o mês (archive restore ${month}) e conte de novo`,
  ],
  keyDiverges: ['IDEMPOTENCIA_DIVERGENTE', 'esta Idempotency-Key já foi usada com outro corpo'],
  keyInProgress: [
    'IDEMPOTENCIA_EM_ANDAMENTO',
    later('a requisição com esta Idempotency-Key ainda está em andamento', 5),
  ],
  /** This process's first key of `SECRETS_KEY` was retired: nobody else could open what it encrypts. */
  keyRetired: ['INDISPONIVEL', later('este processo ainda cifra com uma chave aposentada', 60)],
  webhookLimit: ['LIMITE_DE_WEBHOOKS', `o parceiro já tem ${MAX_ACTIVE_WEBHOOKS} webhooks ativos`],
  /** It would be sent, and an inactive webhook is not sent anything. */
  webhookInactive: ['TRANSICAO_INVALIDA', 'o webhook está inativo; reative-o antes'],
  webhookMuted: ['TRANSICAO_INVALIDA', 'o webhook já está silenciado'],
  testOfMuted: [
    'TRANSICAO_INVALIDA',
    'o webhook está silenciado pela operação: nada lhe é enviado até que ela o libere',
  ],
  /** Its URL has answered no 2xx yet, and has refused so often that one POST a minute leaves (delivery/queue/consent.ts). */
  notAsked: [
    'TRANSICAO_INVALIDA',
    ({ until }: Until) =>
      `a URL ainda não respondeu 2xx a nenhuma entrega, e recusou muitas: tente de novo depois de ${until.toISOString()}`,
  ],
  conformanceUnderWay: ['TRANSICAO_INVALIDA', 'uma homologação deste webhook já está em andamento'],
  tooManyConformances: ['INDISPONIVEL', later('há homologações demais em andamento; tente de novo em um minuto', 60)],
  webhookNotMuted: ['TRANSICAO_INVALIDA', 'o webhook não está silenciado'],
  /** The delivery's POST may be arriving now. */
  deliveryInFlight: ['TRANSICAO_INVALIDA', 'a entrega está em andamento; tente de novo quando a tentativa terminar'],
  deliveryOver: [
    'TRANSICAO_INVALIDA',
    ({ status }: { readonly status: (typeof DELIVERY_STATUSES)[number] }) => `a entrega já terminou: ${status}`,
  ],
  partnerInactive: ['TRANSICAO_INVALIDA', 'o parceiro já está inativo'],
  partnerActive: ['TRANSICAO_INVALIDA', 'o parceiro já está ativo'],
  /** The webhook is active again, but time ran out before all of its suspended deliveries were resumed. */
  stillSuspended: [
    'INDISPONIVEL',
    later('o webhook está ativo, mas ainda há entregas suspensas: repita a mesma requisição', 1),
  ],
  signingTimeOutOfRange: ['ERRO_VALIDACAO', wrong('vale_em', `deve estar entre agora e ${MAX_WAIT_H} h à frente`)],
  newSecretWaits: [
    'TRANSICAO_INVALIDA',
    ({ until }: Until) =>
      `um secret novo espera até ${until.toISOString()}; ative-o com POST …/segredo/ativar ou descarte-o com DELETE …/segredo/novo`,
  ],
  previousSecretSigns: [
    'TRANSICAO_INVALIDA',
    ({ until }: Until) =>
      `o secret anterior ainda assina até ${until.toISOString()}; encerre-o antes com DELETE …/segredo/anterior`,
  ],
  /** Until a new secret begins to sign, the one before it is the only one. */
  previousSecretSignsAlone: [
    'TRANSICAO_INVALIDA',
    ({ until }: Until) =>
      `o secret atual assina sozinho até ${until.toISOString()}; ative antes o novo com POST …/segredo/ativar`,
  ],
  noNewSecret: ['TRANSICAO_INVALIDA', 'nenhum secret novo espera; peça um com POST …/segredo'],
  newSecretSigns: ['TRANSICAO_INVALIDA', 'o secret novo já assina; troque-o com POST …/segredo'],
  tooManyCodes: [
    'LIMITE_DE_REQUISICOES',
    later('o parceiro já pediu muitos códigos hoje; tente de novo amanhã', 86_400),
  ],
  noHandshake: [
    'ERRO_VALIDACAO',
    ({ why }: { readonly why: string }) => wrong('url', `não aceitou entregas no OPTIONS da inscrição: ${why}`),
  ],
  wrongCode: ['ERRO_VALIDACAO', wrong('codigo', 'não é o código que foi enviado, ou já não vale')],
  noMail: ['ERRO_VALIDACAO', wrong('email', 'o operador não configurou um servidor de e-mail')],
  /** The log no longer has the cursor's event; `goOn` is the cursor to continue with. */
  cursorAhead: [
    'CURSOR_ADIANTE',
    ({ goOn }: { readonly goOn: string }) => ({
      text:
        'o banco de dados voltou a um momento anterior ao deste cursor; continue com o cursor de detalhes, e trate de novo, ' +
        'pela X-Webhook-Delivery ou pelo evento_id, o que vier depois dele',
      details: [{ campo: 'depois', mensagem: goOn }],
    }),
  ],
  /** The export that `corte` names has not ended here: transactions below it are still open. */
  cutNotSettled: ['ERRO_VALIDACAO', wrong('corte', 'deve ser o do cabeçalho X-Carteiro-Manifesto')],
  verifying: ['TRANSICAO_INVALIDA', 'uma conferência já está em andamento; tente de novo quando ela terminar'],
  tooManyToProve: [
    'TRANSICAO_INVALIDA',
    ({ most }: { readonly most: number }) =>
      `a entrega tem mais de ${most} tentativas e pedidos: peça à operação a prova do comando audit proof`,
  ],
  tooManyToVerify: ['TRANSICAO_INVALIDA', 'há linhas demais para esperar por elas; use o comando audit verify'],
} as const satisfies Readonly<Record<string, readonly [ErrorCode, Saying | ((given: never) => Saying)]>>;

type Table = typeof REFUSALS;
export type RefusalKind = keyof Table;
type GivenTo<S> = S extends (given: infer G) => Saying ? G : unknown;
/** By kind, so that the compiler sees a refusal of few kinds as one of more. */
type RefusalTable = { readonly [K in RefusalKind]: { readonly kind: K } & GivenTo<Table[K][1]> };
export type RefusalOf<K extends RefusalKind> = RefusalTable[K];
export type Refusal = RefusalTable[RefusalKind];
/** The refusals whose code is among `C`. */
export type KindWithCode<C extends ErrorCode> = { [K in RefusalKind]: Table[K][0] extends C ? K : never }[RefusalKind];

export interface Refused<out K extends RefusalKind = RefusalKind> {
  readonly refused: RefusalOf<K>;
}

/** `K` names the kinds of refusal that may come. */
export type Result<T, K extends RefusalKind = RefusalKind> = { readonly ok: T } | Refused<K>;

export const NO_REGISTRY: Refused<'noRegistry'> = { refused: { kind: 'noRegistry' } };
export const taken = (field: string, value: string): Refused<'taken'> => ({ refused: { kind: 'taken', field, value } });
export const NOT_FOUND: Refused<'notFound'> = { refused: { kind: 'notFound' } };

/** What a refusal is on the wire: its code, and what its answer says. */
export function sayRefusal(refusal: Refusal): RefusalText & { readonly code: ErrorCode } {
  const [code, saying] = REFUSALS[refusal.kind] as readonly [ErrorCode, Saying | ((given: Refusal) => Saying)];
  const said = typeof saying === 'function' ? saying(refusal) : saying;
  return { code, ...(typeof said === 'string' ? { text: said } : said) };
}
