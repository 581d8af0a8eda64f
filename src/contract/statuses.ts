/** The closed vocabularies of the wire, in the order in which lists and pages show them. */

/** `situacao_emprestimo` of `trabalhador.desligado`. */
export const CLOSED_FOR_END_OF_BOND = {
  codigo: 'encerrado_desligamento',
  descricao: 'Encerrado por desligamento',
} as const;

export const LOAN_STATUSES = [
  'emitindo',
  'em_assinatura',
  'aguardando_averbacao',
  'averbada',
  'desembolsada',
  'cancelada',
  'encerrada_desligamento',
] as const;
export type LoanStatus = (typeof LOAN_STATUSES)[number];

export const NEXT_ACTIONS = ['aguardar_emissao', 'assinar', 'enviar_documentos', 'averbar', 'desembolsar'] as const;
export type NextAction = (typeof NEXT_ACTIONS)[number];

export const SIGNING_MODES = ['internal', 'externa'] as const;
export type SigningMode = (typeof SIGNING_MODES)[number];

export const DOCUMENT_MODES = ['agrupada', 'diferida'] as const;
export type DocumentMode = (typeof DOCUMENT_MODES)[number];

export const ISSUANCE_MODES = ['sincrona', 'assincrona'] as const;
export type IssuanceMode = (typeof ISSUANCE_MODES)[number];

export const DOCUMENT_TYPES = ['ccb_assinada', 'selfie', 'documento_frente', 'documento_verso', 'evidencias'] as const;
export type DocumentType = (typeof DOCUMENT_TYPES)[number];

export const DOCUMENTS_SITUATIONS = ['aguardando', 'recebido'] as const;

export const REGISTRATION_STATUSES = ['processando', 'concluida', 'falhou'] as const;
export type RegistrationStatus = (typeof REGISTRATION_STATUSES)[number];

export const MARGIN_ERROR_KINDS = ['upstream', 'negocial'] as const;
export const AUTHORIZATION_ORIGINS = ['web', 'mensageria'] as const;

export const DELIVERY_STATUSES = ['pendente', 'entregue', 'erro', 'suspensa'] as const;

/** The changes of a webhook that its history records. */
export const WEBHOOK_CHANGES = [
  'criacao',
  'alteracao',
  'desativacao',
  'reativacao',
  'segredo_trocado',
  'segredo_agendado',
  'segredo_ativado',
  'segredo_descartado',
  'segredo_anterior_encerrado',
  'silenciamento',
  'fim_do_silenciamento',
  'falhando',
  'fim_da_falha',
  'suspensao',
  'ordem_por_emprestimo',
  'ordem_nenhuma',
  'limite',
  'credenciais',
  'fim_das_credenciais',
] as const;
export type WebhookChange = (typeof WEBHOOK_CHANGES)[number];

/** Of those, what the policy for failing endpoints does, as the author `servico`. */
export const FAILING_CHANGES = ['falhando', 'fim_da_falha', 'suspensao'] as const;
export type FailingChange = (typeof FAILING_CHANGES)[number];

/** How a webhook fares: `falhando`, `suspensa` by the failing policy, `silenciada` by an operator, `inativa` by the partner. */
export const WEBHOOK_STATES = ['ativa', 'falhando', 'suspensa', 'silenciada', 'inativa'] as const;
export type WebhookState = (typeof WEBHOOK_STATES)[number];

/** In what order a webhook gets its deliveries: each as it is due, or of each loan one at a time, by version. */
export const DELIVERY_ORDERS = ['nenhuma', 'por_emprestimo'] as const;
export type DeliveryOrder = (typeof DELIVERY_ORDERS)[number];

/** What can happen to a partner's account, as its history tells it. */
export const PARTNER_CHANGES = ['criacao', 'alteracao', 'desativacao', 'reativacao', 'avisos'] as const;

/** What people of a partner are told of. */
export const ALERT_KINDS = [
  'falhando',
  'suspensao',
  'fim_da_falha',
  'fim_do_segredo',
  'atraso',
  'erro',
  'resposta_estranha',
  'certificado',
  'mudanca',
  'silenciado',
  'confirmacao',
  'teste',
] as const;
export type AlertKind = (typeof ALERT_KINDS)[number];
/** Where: `evento` is a notice, for other webhooks of the partner. */
export const ALERT_CHANNELS = ['email', 'slack', 'evento'] as const;
export type AlertChannel = (typeof ALERT_CHANNELS)[number];
/** Of these, what a partner gives an address of. */
export type AddressChannel = Exclude<AlertChannel, 'evento'>;
/** For how long a code confirms an address. */
export const ALERT_CODE_H = 24;
/** The alerts that deliveries give: one has failed this many times, and one has ended in `erro`. */
export const LATE_AFTER = 4;
export type LossKind = Extract<AlertKind, 'atraso' | 'erro'>;

/** The orders a person gives for deliveries: send one again, many again, a test, the suspended ones; or cancel one. */
export const SEND_ORDERS = ['reenvio', 'reenvio_em_lote', 'teste', 'retomada', 'cancelamento'] as const;
export type SendOrder = (typeof SEND_ORDERS)[number];

/** What happens to a month of the log: it goes to files, its rows begin to leave the database, have left it, or come back. */
export const ARCHIVE_ACTS = ['arquivamento', 'remocao', 'remocao_concluida', 'restauracao'] as const;
export type ArchiveAct = (typeof ARCHIVE_ACTS)[number];

export const OUTCOMES = [
  'entregue',
  'resposta_nao_2xx',
  'tempo_esgotado',
  'erro_conexao',
  'erro_tls',
  'destino_recusado',
  'erro_autorizacao',
  'desconhecido',
] as const;
export type Outcome = (typeof OUTCOMES)[number];
export const FAILURE_OUTCOMES = OUTCOMES.filter((outcome) => outcome !== 'entregue');

export const SCOPES = [
  'webhooks:read',
  'webhooks:write',
  'webhooks:mascarado',
  'emprestimos:read',
  'emprestimos:write',
  'margem:read',
  'vinculos:read',
  'auditoria:read',
  'auditoria:cpf',
  'nucleo',
  'operador',
  'sandbox',
] as const;
export type Scope = (typeof SCOPES)[number];

/** Scopes of auditors and of the lender's own services: their tokens name no partner. */
export const SCOPES_WITHOUT_PARTNER: readonly Scope[] = ['auditoria:read', 'nucleo', 'operador'];

/** Of the name by which the log knows who caused something: the `sub` of a token, or a core's name for itself. */
export const MAX_ACTOR = 255;

/** `append_event` has the same rule. */
export function isActor(name: string): boolean {
  const isShort = name !== '' && name.length <= MAX_ACTOR;
  return isShort && name.isWellFormed() && !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(name);
}

/** Why a delivery waits. */
export const WAITING_REASONS = [
  'encerrada',
  'parceiro_inativo',
  'webhook_inativo',
  'silenciado',
  'em_andamento',
  'tentativa_perdida',
  'outra_do_emprestimo',
  'proxima_tentativa',
  'falha_nossa',
  'sem_poller',
  'webhook_falhando',
  'sem_autorizacao',
  'sem_consentimento',
  'limite_do_webhook',
  'a_caminho',
] as const;
export type WaitingReason = (typeof WAITING_REASONS)[number];

/** Who writes the loans: partners through us, or the lender's core elsewhere (`LOAN_CORE`). */
export type LoanCore = 'own' | 'outside';

/** What may keep checkpoints outside. */
export const ANCHOR_KINDS = ['carimbo_de_tempo', 'arquivo', 'bucket', 'testemunha'] as const;
export type AnchorKind = (typeof ANCHOR_KINDS)[number];
