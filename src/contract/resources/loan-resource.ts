/** The loan and its registration, as a partner reads and writes them. */
import { z } from 'zod';
import {
  DOCUMENT_MODES,
  DOCUMENTS_SITUATIONS,
  LOAN_STATUSES,
  NEXT_ACTIONS,
  REGISTRATION_STATUSES,
  SIGNING_MODES,
} from '../statuses.ts';
import { deliveriesOfEvent } from './delivery-resource.ts';
import { readCpf } from '../erasure.ts';
import { documentType } from './documents.ts';
import { cnpj, cpf } from '../tax-ids.ts';
import { component, date, id, MAX_INSTALLMENTS, positiveReais, reais, shown, text, timestamp } from '../values.ts';

export const createLoan = z.strictObject({
  cpf_trabalhador: cpf,
  nome_trabalhador: text(200),
  matricula: text(60),
  cnpj_empregador: cnpj,
  valor_liberado: positiveReais,
  numero_parcelas: z.int().min(1).max(MAX_INSTALLMENTS),
  valor_parcela: positiveReais,
  consulta_margem_id: id.optional(),
});
export type CreateLoan = z.infer<typeof createLoan>;

export const registrationResource = component('Averbacao', {
  id,
  emprestimo_id: id,
  status: z.enum(REGISTRATION_STATUSES),
  protocolo_registry: z.string().nullable(),
  erro: z.string().nullable(),
  criada_em: timestamp,
  concluida_em: timestamp.nullable(),
});
export type RegistrationResource = z.infer<typeof registrationResource>;

/** A registration as it is read by itself: with what our worker has asked, and why it waits. */
export const registrationProgress = component('AverbacaoEmDetalhe', {
  ...registrationResource.shape,
  tentativas: shown(z.int().min(0), 3),
  ultima_resposta: shown(z.string(), 'o registry não respondeu').nullable(),
  proxima_tentativa_em: timestamp.nullable(),
});
export type RegistrationProgress = z.infer<typeof registrationProgress>;

const documentsObligation = component('EntregaDeDocumentos', {
  situacao: z.enum(DOCUMENTS_SITUATIONS),
  prazo: date,
  documentos_pendentes: z.array(documentType),
  recebido_em: timestamp.nullable(),
});

export const loanResource = component('Emprestimo', {
  id,
  numero: z.string(),
  status: z.enum(LOAN_STATUSES),
  proxima_acao: z.enum(NEXT_ACTIONS).nullable(),
  cpf_trabalhador: readCpf,
  nome_trabalhador: z.string(),
  matricula: z.string(),
  cnpj_empregador: cnpj,
  tipo_assinatura: z.enum(SIGNING_MODES),
  entrega_documentos: z.enum(DOCUMENT_MODES),
  valor_liberado: reais,
  numero_parcelas: z.int(),
  valor_parcela: reais,
  ccb_assinada_recebida: z.boolean(),
  averbacao: registrationResource.nullable(),
  data_liberacao: date.nullable(),
  entrega_docs_registry: documentsObligation.nullable(),
  versao: z.int(),
  criado_em: timestamp,
  atualizado_em: timestamp,
});
export type LoanResource = z.infer<typeof loanResource>;

export const recentLoans = z.strictObject({
  itens: z.array(
    component('EmprestimoRecente', {
      id,
      numero: z.string(),
      status: z.enum(LOAN_STATUSES),
      versao: z.int(),
      ultimo_evento: z.string().meta({ examples: ['averbacao.concluida'] }),
      atualizado_em: timestamp,
    }),
  ),
});
export type RecentLoan = z.infer<typeof recentLoans>['itens'][number];

const NEXT_VERSION = {
  pt: 'O parâmetro desde_versao da próxima página; null na última',
  en: 'The parameter desde_versao of the next page; null on the last',
};

/** Events of a loan, the first one first, with the state that each led to and what it had delivered. */
export const loanHistory = z.strictObject({
  emprestimo_id: id,
  numero: z.string(),
  itens: z.array(
    component('PassoDoEmprestimo', {
      versao: z.int(),
      evento_id: id,
      /** Of a fact that is never sent, the log's own name. */
      evento: z.string(),
      ocorrido_em: timestamp,
      /** Null where facts came ahead of the contract. */
      status: z.enum(LOAN_STATUSES).nullable(),
      situacao_documentos: z.enum(DOCUMENTS_SITUATIONS).nullable(),
      entregas: deliveriesOfEvent,
    }),
  ),
  proxima_versao: z.int().nullable().meta({ text: NEXT_VERSION }),
});
export type LoanHistory = z.infer<typeof loanHistory>;
export type LoanStep = LoanHistory['itens'][number];
