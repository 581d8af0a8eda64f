/** Each refusal on the wire: its code, which gives the status, and its text, details and headers. */
import type { ErrorCode, ErrorDetail } from '../contract/errors.ts';
import type { Refusal, RefusalKind, RefusalOf } from '../contract/refusals.ts';
import { MAX_ACTIVE_WEBHOOKS, MAX_WAIT_H } from '../contract/resources/webhook.ts';
import { ApiError } from './api-error.ts';

interface Told {
  readonly text: string;
  readonly details?: readonly ErrorDetail[];
  readonly headers?: Readonly<Record<string, string>>;
}

/** The text of every 400 for wrong fields, found by a schema or by a use case. */
export const INVALID_FIELDS = 'a requisição tem dados inválidos';

function wrong(campo: string, mensagem: string): Told {
  return { text: INVALID_FIELDS, details: [{ campo, mensagem }] };
}

type Saying = string | Told;

/** Each refusal's code, which gives the status, and its text, perhaps with details and headers. */
const REFUSALS = {
  notFound: ['NAO_ENCONTRADO', 'recurso não encontrado'],
  unknownWorker: ['NAO_ENCONTRADO', 'nada é guardado sob este CPF'],
  noWorkerKey: [
    'INDISPONIVEL',
    {
      text: 'nenhuma chave para achar trabalhadores está configurada (WORKER_KEY_FILE)',
      headers: { 'Retry-After': '60' },
    },
  ],
  loanOpen: [
    'TRANSICAO_INVALIDA',
    ({ loanId, status }) => `o empréstimo ${loanId} do trabalhador está aberto: o status é ${status}`,
  ],
  legalPeriod: [
    'TRANSICAO_INVALIDA',
    ({ until }) => `a lei manda guardar os dados até ${until}; antes, só por ordem judicial`,
  ],
  erased: ['TRANSICAO_INVALIDA', 'os dados deste evento foram apagados; não há o que enviar'],
  loanState: [
    'TRANSICAO_INVALIDA',
    ({ what, status, why }) => `${what}: o status do empréstimo é ${status}${why === null ? '' : `, ${why}`}`,
  ],
  misfit: ['ERRO_VALIDACAO', ({ what, details }) => ({ text: what, details })],
  unknownPartner: ['ERRO_VALIDACAO', wrong('parceiro_id', 'não é um parceiro')],
  unknownMarginQuery: [
    'ERRO_VALIDACAO',
    wrong('consulta_margem_id', 'não é uma consulta de margem deste trabalhador com este empregador'),
  ],
  noRegistry: ['INDISPONIVEL', 'nenhum registry está configurado'],
  marginRefused: ['MARGEM_NEGOCIAL', ({ error }) => `o registry recusou a consulta: ${error}`],
  marginFailed: ['MARGEM_UPSTREAM', ({ error }) => `a consulta ao registry falhou: ${error}`],
  monthNotOver: [
    'TRANSICAO_INVALIDA',
    ({ month }) => `Não é possível fechar o repasse: a competência ${month} ainda não terminou`,
  ],
  monthRemoved: [
    'TRANSICAO_INVALIDA',
    ({ month, day }) =>
      `entregas de ${day} estão só no arquivo de ${month}: peça à operação que restaure o mês (archive restore ${month}) e conte de novo`,
  ],
  keyDiverges: ['IDEMPOTENCIA_DIVERGENTE', 'esta Idempotency-Key já foi usada com outro corpo'],
  keyInProgress: [
    'IDEMPOTENCIA_EM_ANDAMENTO',
    {
      text: 'a requisição com esta Idempotency-Key ainda está em andamento',
      headers: { 'Retry-After': '5' },
    },
  ],
  webhookLimit: ['LIMITE_DE_WEBHOOKS', `o parceiro já tem ${MAX_ACTIVE_WEBHOOKS} webhooks ativos`],
  webhookInactive: ['TRANSICAO_INVALIDA', 'o webhook está inativo; reative-o antes'],
  webhookMuted: ['TRANSICAO_INVALIDA', 'o webhook já está silenciado'],
  testOfMuted: [
    'TRANSICAO_INVALIDA',
    'o webhook está silenciado pela operação: nada lhe é enviado até que ela o libere',
  ],
  webhookNotMuted: ['TRANSICAO_INVALIDA', 'o webhook não está silenciado'],
  deliveryInFlight: ['TRANSICAO_INVALIDA', 'a entrega está em andamento; tente de novo quando a tentativa terminar'],
  deliveryOver: ['TRANSICAO_INVALIDA', ({ status }) => `a entrega já terminou: ${status}`],
  partnerInactive: ['TRANSICAO_INVALIDA', 'o parceiro já está inativo'],
  partnerActive: ['TRANSICAO_INVALIDA', 'o parceiro já está ativo'],
  stillSuspended: [
    'INDISPONIVEL',
    {
      text: 'o webhook está ativo, mas ainda há entregas suspensas: repita a mesma requisição',
      headers: { 'Retry-After': '1' },
    },
  ],
  signingTimeOutOfRange: ['ERRO_VALIDACAO', wrong('vale_em', `deve estar entre agora e ${MAX_WAIT_H} h à frente`)],
  newSecretWaits: [
    'TRANSICAO_INVALIDA',
    ({ until }) =>
      `um secret novo espera até ${until.toISOString()}; ative-o com POST …/segredo/ativar ou descarte-o com DELETE …/segredo/novo`,
  ],
  previousSecretSigns: [
    'TRANSICAO_INVALIDA',
    ({ until }) =>
      `o secret anterior ainda assina até ${until.toISOString()}; encerre-o antes com DELETE …/segredo/anterior`,
  ],
  previousSecretSignsAlone: [
    'TRANSICAO_INVALIDA',
    ({ until }) =>
      `o secret atual assina sozinho até ${until.toISOString()}; ative antes o novo com POST …/segredo/ativar`,
  ],
  noNewSecret: ['TRANSICAO_INVALIDA', 'nenhum secret novo espera; peça um com POST …/segredo'],
  newSecretSigns: ['TRANSICAO_INVALIDA', 'o secret novo já assina; troque-o com POST …/segredo'],
  foreignCursor: [
    'ERRO_VALIDACAO',
    ({ field }) => wrong(field, 'deve ser o proximo_cursor de uma resposta desta lista'),
  ],
  noMail: ['ERRO_VALIDACAO', wrong('email', 'o operador não configurou um servidor de e-mail')],
  cursorAhead: [
    'CURSOR_ADIANTE',
    ({ goOn }) => ({
      text:
        'o banco de dados voltou a um momento anterior ao deste cursor; continue com o cursor de detalhes, e trate de novo, ' +
        'pela X-Webhook-Delivery ou pelo evento_id, o que vier depois dele',
      details: [{ campo: 'depois', mensagem: goOn }],
    }),
  ],
  cutNotSettled: ['ERRO_VALIDACAO', wrong('corte', 'deve ser o do cabeçalho X-Carteiro-Manifesto')],
  verifying: ['TRANSICAO_INVALIDA', 'uma conferência já está em andamento; tente de novo quando ela terminar'],
  tooManyToVerify: ['TRANSICAO_INVALIDA', 'há linhas demais para esperar por elas; use o comando audit verify'],
} as const satisfies {
  readonly [K in RefusalKind]: readonly [ErrorCode, Saying | ((refusal: RefusalOf<K>) => Saying)];
};

/** The refusals that an operation may answer when it declares `C` among its errors. */
export type KindWithCode<C extends ErrorCode> = {
  [K in RefusalKind]: (typeof REFUSALS)[K][0] extends C ? K : never;
}[RefusalKind];

/** The refusal as the error that onError answers with (errors.ts). */
export function refusalError(refusal: Refusal): ApiError {
  const [code, tell] = REFUSALS[refusal.kind] as readonly [ErrorCode, Saying | ((given: Refusal) => Saying)];
  const said = typeof tell === 'function' ? tell(refusal) : tell;
  const { text, ...rest } = typeof said === 'string' ? { text: said } : said;
  return new ApiError(code, text, rest);
}
