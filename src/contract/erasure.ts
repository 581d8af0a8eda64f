/** What is left of a worker who was forgotten: one word in the place of each text that tells of a person. */
import { z } from 'zod';

export const ERASED = 'apagado';

/** The digest of a body from which a worker's CPF was erased: its event's salt is gone, and a hash without one could be guessed. */
export const NO_DIGEST = '0'.repeat(64);

/**
 * Fields of payloads whose texts stay: ids, contract numbers, closed words, days and times. Each other text of an erased event is
 * {@link ERASED}; numbers, true, false and null stay. `migrate` gives the database this list (erased.sql).
 */
export const KEPT_TEXTS: readonly string[] = [
  'autorizacao_id',
  'averbacao_id',
  'cnpj',
  'cnpj_empregador',
  'codigo',
  'competencia',
  'consulta_margem_id',
  'data_admissao',
  'data_desligamento',
  'data_liberacao',
  'desde',
  'emprestimo_id',
  'entrega_documentos',
  'exemplo_de',
  'falhando_desde',
  'fechado_em',
  'numero',
  'numero_emprestimo',
  'origem',
  'parceiro_id',
  'prazo',
  'primeira_entrega_id',
  'primeira_falha_em',
  'repasse_id',
  'status',
  'suspende_em',
  'suspenso_em',
  'tipo',
  'tipo_assinatura',
  'tipo_erro',
  'ultimo_resultado',
  'webhook_id',
];

/** A worker's CPF as it is read: its 11 digits, or {@link ERASED}. */
export const readCpf = z
  .string()
  .regex(/^([0-9]{11}|apagado)$/)
  .meta({
    text: {
      pt: 'CPF sem pontuação; apagado, quando os dados do trabalhador foram apagados',
      en: 'CPF without punctuation; apagado where the worker’s data were erased',
    },
    examples: ['52998224725'],
  });
