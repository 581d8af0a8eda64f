/** Every part that the sandbox plays, as a call of its API, and a whole loan of them. */
import { randomUUIDv7 } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { dayOf } from '../../contract/calendar.ts';
import { LOAN_EXAMPLE } from '../../contract/resources/loan-example.ts';
import type { LoanResource } from '../../contract/resources/loan-resource.ts';
import { DOCUMENT_TYPES, type DocumentType, type NextAction } from '../../contract/statuses.ts';
import type { ApiClient } from '../api-client.ts';

/** What {@link ApiClient.send} is given: the method, the path, perhaps a body and headers. */
type Call = Parameters<ApiClient['send']>;

const CPF = LOAN_EXAMPLE.cpf_trabalhador;
const EMPLOYER = LOAN_EXAMPLE.cnpj_empregador;
/** `%PDF-1.4` */
const SMALLEST_PDF = 'JVBERi0xLjQ=';
const MARGIN = { cpf: CPF, numero_inscricao_empregador: EMPLOYER };

/** What the form brings: the loan that was chosen, the clock's seconds, the month. */
export interface Given {
  readonly loanId: string;
  readonly seconds: number;
  readonly month: string;
}

type Make = (given: Given) => Call;

const onLoan =
  (act: string, body?: unknown, method = 'POST'): Make =>
  ({ loanId }) => [method, `/v1/sandbox/emprestimos/${loanId}/${act}`, body];

const elsewhere =
  (path: string, body: (given: Given) => unknown, method = 'POST'): Make =>
  (given) => [method, `/v1/sandbox/${path}`, body(given)];

const documents =
  (act: 'documentos' | 'documentos-dataprev', types: readonly DocumentType[]): Make =>
  ({ loanId }) => [
    'POST',
    `/v1/emprestimos/${loanId}/${act}`,
    { documentos: types.map((tipo) => ({ tipo, nome_arquivo: `${tipo}.pdf`, conteudo_base64: SMALLEST_PDF })) },
  ];

const account = (change: object): Make => elsewhere('conta', () => change, 'PUT');

export function newLoan(): Call {
  return ['POST', '/v1/emprestimos', LOAN_EXAMPLE, { 'Idempotency-Key': randomUUIDv7() }];
}

export const LOAN_ACTS = {
  emissao_emitida: onLoan('emissao', { resultado: 'emitida' }),
  emissao_falhou: onLoan('emissao', { resultado: 'falhou' }),
  assinatura: onLoan('assinatura'),
  documentos_pacote: documents('documentos', DOCUMENT_TYPES),
  documentos_ccb: documents('documentos', ['ccb_assinada']),
  documentos_dataprev: documents(
    'documentos-dataprev',
    DOCUMENT_TYPES.filter((type) => type !== 'ccb_assinada'),
  ),
  averbar: ({ loanId }) => ['POST', `/v1/emprestimos/${loanId}/averbacao`],
  averbacao_concluida: onLoan('averbacao', { resultado: 'concluida' }, 'PUT'),
  averbacao_falhou: onLoan('averbacao', { resultado: 'falhou' }, 'PUT'),
  desembolso_liquidado: onLoan('desembolso', { resultado: 'liquidado' }),
  desembolso_falhou: onLoan('desembolso', { resultado: 'falhou' }),
  desligamento: elsewhere('vinculos/desligamentos', ({ loanId }) => ({
    emprestimo_id: loanId,
    data_desligamento: dayOf(new Date()),
    motivo_desligamento: { codigo: '02', descricao: 'Dispensa sem justa causa' },
  })),
  vinculo_novo: elsewhere('vinculos/novos', ({ loanId }) => ({
    emprestimo_id: loanId,
    novo_empregador: { cnpj: EMPLOYER, nome: 'Nova Empregadora Ltda' },
    data_admissao: dayOf(new Date()),
    margem_disponivel: 1_500,
  })),
} as const satisfies Readonly<Record<string, Make>>;

/** What the loans to come are issued under. */
export const ACCOUNT_ACTS = {
  assinatura_internal: account({ assinatura: 'internal' }),
  assinatura_externa: account({ assinatura: 'externa' }),
  documentos_agrupada: account({ documentos: 'agrupada' }),
  documentos_diferida: account({ documentos: 'diferida' }),
  emissao_sincrona: account({ emissao: 'sincrona' }),
  emissao_assincrona: account({ emissao: 'assincrona' }),
} as const satisfies Readonly<Record<string, Make>>;

export const OTHER_ACTS = {
  emprestimo: newLoan,
  autorizacao: elsewhere('autorizacoes', () => ({ cpf_trabalhador: CPF, origem: 'web' })),
  margem_boa: elsewhere(
    'margem',
    () => ({ ...MARGIN, valor_total_vencimentos: 6_000, valor_margem_disponivel: 1_234.5 }),
    'PUT',
  ),
  margem_falha: elsewhere('margem', () => ({ ...MARGIN, falha: 'upstream', erro: 'registry fora do ar' }), 'PUT'),
  margem_consulta: () => ['POST', '/v1/margem/consulta?skip_cache=true', MARGIN],
  sincronizacao: () => ['POST', '/v1/sandbox/sincronizacao'],
  repasse: elsewhere('repasses', ({ month }) => ({ competencia: month })),
  tempo: elsewhere('tempo', ({ seconds }) => ({ avancar_segundos: seconds })),
} as const satisfies Readonly<Record<string, Make>>;

export type LoanAct = keyof typeof LOAN_ACTS;
export type OtherAct = keyof typeof OTHER_ACTS;
export type AccountAct = keyof typeof ACCOUNT_ACTS;

/** The call of an act; undefined for a name that is none. */
export function callOf(act: string, given: Given): Call | undefined {
  const acts: Readonly<Record<string, Make>> = { ...LOAN_ACTS, ...ACCOUNT_ACTS, ...OTHER_ACTS };
  return Object.hasOwn(acts, act) ? acts[act]?.(given) : undefined;
}

const MAX_STEPS = 40;

/** Does whatever is the loan's next action until there is none; `pauseMs` lies between two, so that one can watch. */
export async function walkOn(api: ApiClient, loanId: string, pauseMs: number, signal: AbortSignal): Promise<void> {
  for (let step = 0; step < MAX_STEPS && !signal.aborted; step += 1) {
    await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
    const read = await api.ask<LoanResource>(`/v1/emprestimos/${loanId}`);
    if (!read.ok || read.body.proxima_acao === null) return;
    // A registration that is under way ends by itself.
    if (read.body.averbacao?.status === 'processando') continue;
    const act = LOAN_ACTS[NEXT[read.body.proxima_acao]];
    const sent = await api.send(...act({ loanId, seconds: 0, month: '' }));
    if (!sent.ok && sent.status !== 409) return;
  }
}

const NEXT = {
  aguardar_emissao: 'emissao_emitida',
  assinar: 'assinatura',
  enviar_documentos: 'documentos_pacote',
  averbar: 'averbar',
  desembolsar: 'desembolso_liquidado',
} as const satisfies Readonly<Record<NextAction, LoanAct>>;
