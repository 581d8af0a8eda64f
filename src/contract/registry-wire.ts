/**
 * What crosses the wire between the service and a lender's bridge to the registry (README of registry/). Further fields are
 * ignored.
 */
import { z } from 'zod';
import { bondEnded, newBond } from './payloads.ts';
import { cnpj, cpf } from './tax-ids.ts';
import { date, id, openComponent, positiveReais, reais, signedReais, text } from './values.ts';

export const MAX_ANSWER_BYTES = 256 * 1024;
export const MAX_BOND_PAGE = 1_000;
/** Characters of a bridge's `erro` that a partner is shown. */
export const MAX_ERROR_LENGTH = 500;
const MAX_NAME_LENGTH = 200;

export const RETRY_AFTER_S = { least: 1, most: 300, default: 2 } as const;

export const marginAsked = openComponent('ConsultaDeMargem', {
  consulta_margem_id: id,
  parceiro_id: id,
  cpf,
  cnpj_empregador: cnpj,
});

export const marginReported = openComponent('Margem', {
  valor_total_vencimentos: reais,
  valor_margem_disponivel: signedReais,
});

export const registrationAsked = openComponent('Averbacao', {
  averbacao_id: id,
  emprestimo_id: id,
  numero_emprestimo: z.string(),
  cpf_trabalhador: cpf,
  matricula: z.string(),
  cnpj_empregador: cnpj,
  valor_liberado: positiveReais,
  numero_parcelas: z.int().min(1),
  valor_parcela: positiveReais,
});

export const registrationReported = openComponent('AverbacaoConcluida', {
  protocolo_registry: text(MAX_NAME_LENGTH).meta({ examples: ['REG-2DCA4C14FF77347F'] }),
});

/** Of a refusal for a reason of business (422), and optional beside 503. */
export const errorReported = openComponent('Recusa', {
  erro: z.string().meta({ maxLength: MAX_ERROR_LENGTH, examples: ['vínculo não encontrado'] }),
});

const bond = { referencia: text(MAX_NAME_LENGTH), parceiro_id: id, emprestimo_id: id };

const pageOf = <T extends z.ZodType>(item: T) =>
  z.object({ itens: z.array(item).max(MAX_BOND_PAGE), proximo_cursor: z.string().min(1).max(4_096).nullable() });

export const endedBond = openComponent('Desligamento', {
  ...bond,
  data_desligamento: date,
  motivo_desligamento: z.object(bondEnded.shape.motivo_desligamento.shape),
});

export const rehiredBond = openComponent('NovoVinculo', {
  ...bond,
  data_admissao: date,
  novo_empregador: z.object(newBond.shape.novo_empregador.shape),
  margem_disponivel: signedReais,
});

/** A page whose records are read one by one. */
export const bondPage = pageOf(z.unknown());
export const endedPage = pageOf(endedBond).meta({ id: 'PaginaDeDesligamentos' });
export const rehiredPage = pageOf(rehiredBond).meta({ id: 'PaginaDeNovosVinculos' });

export const bondQuery = z.object({
  desde: z.iso.datetime(),
  ate: z.iso.datetime(),
  parceiro_id: id.optional(),
  cursor: z.string().optional(),
});
