import { ERASED } from '../contract/erasure.ts';
import type { LoanResource, RegistrationResource } from '../contract/resources/loan-resource.ts';
import type { NextAction } from '../contract/statuses.ts';
import { toReais } from '../contract/values.ts';
import { isDeferred, type LoanState, missingDocuments } from './state.ts';

/** The partner's or the service's next step; null when none is left, or the worker was erased. */
export function nextAction(state: LoanState): NextAction | null {
  if (state.workerCpf === ERASED) return null;
  switch (state.status) {
    case 'emitindo':
      return 'aguardar_emissao';
    case 'em_assinatura':
      if (state.signing === 'internal') return 'assinar';
      return isDeferred(state) ? 'averbar' : 'enviar_documentos';
    case 'aguardando_averbacao':
      return 'averbar';
    case 'averbada':
      return 'desembolsar';
    case 'desembolsada':
    case 'cancelada':
    case 'encerrada_desligamento':
      return null;
    default:
      return state.status satisfies never;
  }
}

/** Null when no registration was ever asked. */
export function viewRegistration({ id, registration }: LoanState): RegistrationResource | null {
  if (registration === null) return null;
  return {
    id: registration.id,
    emprestimo_id: id,
    status: registration.status,
    protocolo_registry: registration.protocol,
    erro: registration.error,
    criada_em: registration.requestedAt,
    concluida_em: registration.endedAt,
  };
}

function viewObligation(state: LoanState): LoanResource['entrega_docs_registry'] {
  const { obligation } = state;
  if (obligation === null) return null;
  return {
    situacao: obligation.situation,
    prazo: obligation.deadline,
    documentos_pendentes: missingDocuments(state),
    recebido_em: obligation.receivedAt,
  };
}

export function view(state: LoanState): LoanResource {
  return {
    id: state.id,
    numero: state.number,
    status: state.status,
    proxima_acao: nextAction(state),
    cpf_trabalhador: state.workerCpf,
    nome_trabalhador: state.workerName,
    matricula: state.workerEnrollment,
    cnpj_empregador: state.employerCnpj,
    tipo_assinatura: state.signing,
    entrega_documentos: state.documentMode,
    valor_liberado: toReais(state.releasedCentavos),
    numero_parcelas: state.installments,
    valor_parcela: toReais(state.installmentCentavos),
    ccb_assinada_recebida: state.receivedDocuments.includes('ccb_assinada'),
    averbacao: viewRegistration(state),
    data_liberacao: state.disbursedOn,
    entrega_docs_registry: viewObligation(state),
    versao: state.version,
    criado_em: state.createdAt,
    atualizado_em: state.updatedAt,
  };
}
