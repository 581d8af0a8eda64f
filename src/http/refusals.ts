/** Each refusal on the wire: its code, which gives the status, and its text, details and headers. */
import type { ErrorCode, ErrorDetail } from '../contract/errors.ts';
import type { Refusal, RefusalKind, RefusalOf } from '../contract/refusals.ts';
import { MAX_ACTIVE_WEBHOOKS, MAX_WAIT_H } from '../contract/resources/webhook.ts';
import { ApiError } from './api-error.ts';

/** Contract, "Errors": the status follows from the code. */
const CODES = {
  notFound: 'NAO_ENCONTRADO',
  unknownWorker: 'NAO_ENCONTRADO',
  noWorkerKey: 'INDISPONIVEL',
  loanOpen: 'TRANSICAO_INVALIDA',
  legalPeriod: 'TRANSICAO_INVALIDA',
  erased: 'TRANSICAO_INVALIDA',
  loanState: 'TRANSICAO_INVALIDA',
  misfit: 'ERRO_VALIDACAO',
  unknownPartner: 'ERRO_VALIDACAO',
  unknownMarginQuery: 'ERRO_VALIDACAO',
  noRegistry: 'INDISPONIVEL',
  marginRefused: 'MARGEM_NEGOCIAL',
  marginFailed: 'MARGEM_UPSTREAM',
  monthNotOver: 'TRANSICAO_INVALIDA',
  keyDiverges: 'IDEMPOTENCIA_DIVERGENTE',
  keyInProgress: 'IDEMPOTENCIA_EM_ANDAMENTO',
  webhookLimit: 'LIMITE_DE_WEBHOOKS',
  webhookInactive: 'TRANSICAO_INVALIDA',
  webhookMuted: 'TRANSICAO_INVALIDA',
  testOfMuted: 'TRANSICAO_INVALIDA',
  webhookNotMuted: 'TRANSICAO_INVALIDA',
  deliveryInFlight: 'TRANSICAO_INVALIDA',
  deliveryOver: 'TRANSICAO_INVALIDA',
  partnerInactive: 'TRANSICAO_INVALIDA',
  partnerActive: 'TRANSICAO_INVALIDA',
  stillSuspended: 'INDISPONIVEL',
  signingTimeOutOfRange: 'ERRO_VALIDACAO',
  newSecretWaits: 'TRANSICAO_INVALIDA',
  previousSecretSigns: 'TRANSICAO_INVALIDA',
  previousSecretSignsAlone: 'TRANSICAO_INVALIDA',
  noNewSecret: 'TRANSICAO_INVALIDA',
  newSecretSigns: 'TRANSICAO_INVALIDA',
  foreignCursor: 'ERRO_VALIDACAO',
  noMail: 'ERRO_VALIDACAO',
  cursorAhead: 'CURSOR_ADIANTE',
  cutNotSettled: 'ERRO_VALIDACAO',
  verifying: 'TRANSICAO_INVALIDA',
  tooManyToVerify: 'TRANSICAO_INVALIDA',
} as const satisfies Record<RefusalKind, ErrorCode>;

/** The refusals that an operation may answer when it declares `C` among its errors. */
export type KindWithCode<C extends ErrorCode> = {
  [K in RefusalKind]: (typeof CODES)[K] extends C ? K : never;
}[RefusalKind];

interface Told {
  readonly text: string;
  readonly details?: readonly ErrorDetail[];
  readonly headers?: Readonly<Record<string, string>>;
}

/** 400 for fields that are wrong, whoever finds it out. */
export const INVALID_FIELDS = 'a requisição tem dados inválidos';

function wrong(campo: string, mensagem: string): Told {
  return { text: INVALID_FIELDS, details: [{ campo, mensagem }] };
}

const TOLD: { readonly [K in RefusalKind]: (refusal: RefusalOf<K>) => Told } = {
  notFound: () => ({ text: 'recurso não encontrado' }),
  unknownWorker: () => ({ text: 'nada é guardado sob este CPF' }),
  noWorkerKey: () => ({
    text: 'nenhuma chave para achar trabalhadores está configurada (WORKER_KEY_FILE)',
    headers: { 'Retry-After': '60' },
  }),
  loanOpen: ({ loanId, status }) => ({
    text: `o empréstimo ${loanId} do trabalhador está aberto: o status é ${status}`,
  }),
  legalPeriod: ({ until }) => ({ text: `a lei manda guardar os dados até ${until}; antes, só por ordem judicial` }),
  erased: () => ({ text: 'os dados deste evento foram apagados; não há o que enviar' }),
  loanState: ({ what, status, why }) => ({
    text: `${what}: o status do empréstimo é ${status}${why === null ? '' : `, ${why}`}`,
  }),
  misfit: ({ what, details }) => ({ text: what, details }),
  unknownPartner: () => wrong('parceiro_id', 'não é um parceiro'),
  unknownMarginQuery: () =>
    wrong('consulta_margem_id', 'não é uma consulta de margem deste trabalhador com este empregador'),
  noRegistry: () => ({ text: 'nenhum registry está configurado' }),
  marginRefused: ({ error }) => ({ text: `o registry recusou a consulta: ${error}` }),
  marginFailed: ({ error }) => ({ text: `a consulta ao registry falhou: ${error}` }),
  monthNotOver: ({ month }) => ({
    text: `Não é possível fechar o repasse: a competência ${month} ainda não terminou`,
  }),
  keyDiverges: () => ({ text: 'esta Idempotency-Key já foi usada com outro corpo' }),
  keyInProgress: () => ({
    text: 'a requisição com esta Idempotency-Key ainda está em andamento',
    headers: { 'Retry-After': '5' },
  }),
  webhookLimit: () => ({ text: `o parceiro já tem ${MAX_ACTIVE_WEBHOOKS} webhooks ativos` }),
  webhookInactive: () => ({ text: 'o webhook está inativo; reative-o antes' }),
  webhookMuted: () => ({ text: 'o webhook já está silenciado' }),
  testOfMuted: () => ({ text: 'o webhook está silenciado pela operação: nada lhe é enviado até que ela o libere' }),
  webhookNotMuted: () => ({ text: 'o webhook não está silenciado' }),
  deliveryInFlight: () => ({ text: 'a entrega está em andamento; tente de novo quando a tentativa terminar' }),
  deliveryOver: ({ status }) => ({ text: `a entrega já terminou: ${status}` }),
  partnerInactive: () => ({ text: 'o parceiro já está inativo' }),
  partnerActive: () => ({ text: 'o parceiro já está ativo' }),
  stillSuspended: () => ({
    text: 'o webhook está ativo, mas ainda há entregas suspensas: repita a mesma requisição',
    headers: { 'Retry-After': '1' },
  }),
  signingTimeOutOfRange: () => wrong('vale_em', `deve estar entre agora e ${MAX_WAIT_H} h à frente`),
  newSecretWaits: ({ until }) => ({
    text: `um secret novo espera até ${until.toISOString()}; ative-o com POST …/segredo/ativar ou descarte-o com DELETE …/segredo/novo`,
  }),
  previousSecretSigns: ({ until }) => ({
    text: `o secret anterior ainda assina até ${until.toISOString()}; encerre-o antes com DELETE …/segredo/anterior`,
  }),
  previousSecretSignsAlone: ({ until }) => ({
    text: `o secret atual assina sozinho até ${until.toISOString()}; ative antes o novo com POST …/segredo/ativar`,
  }),
  noNewSecret: () => ({ text: 'nenhum secret novo espera; peça um com POST …/segredo' }),
  newSecretSigns: () => ({ text: 'o secret novo já assina; troque-o com POST …/segredo' }),
  foreignCursor: ({ field }) => wrong(field, 'deve ser o proximo_cursor de uma resposta desta lista'),
  noMail: () => wrong('email', 'o operador não configurou um servidor de e-mail'),
  cursorAhead: ({ goOn }) => ({
    text:
      'o banco de dados voltou a um momento anterior ao deste cursor; continue com o cursor de detalhes, e trate de novo, ' +
      'pela X-Webhook-Delivery ou pelo evento_id, o que vier depois dele',
    details: [{ campo: 'depois', mensagem: goOn }],
  }),
  cutNotSettled: () => wrong('corte', 'deve ser o do cabeçalho X-Carteiro-Manifesto'),
  verifying: () => ({ text: 'uma conferência já está em andamento; tente de novo quando ela terminar' }),
  tooManyToVerify: () => ({ text: 'há linhas demais para esperar por elas; use o comando audit verify' }),
};

/** The refusal as the error that onError answers with (errors.ts). */
export function refusalError(refusal: Refusal): ApiError {
  const tell = TOLD[refusal.kind] as (given: Refusal) => Told;
  const { text, ...rest } = tell(refusal);
  return new ApiError(CODES[refusal.kind], text, rest);
}
