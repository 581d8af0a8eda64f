/** What checks of the log have found. */
import { z } from 'zod';
import { date, shown, timestamp } from '../values.ts';

const finding = z.strictObject({
  tipo: z.string().meta({ examples: ['linha_alterada'] }),
  selo: z.int().nullable(),
  tabela: shown(z.string().nullable(), 'attempts'),
  linha: shown(z.string().nullable(), '019a6e0b-7f3c-7d52-9a41-5c1d2e3f4a5b/1'),
  colunas: z.array(z.string()),
  detalhe: z.string(),
});

/** The log's head in one word: its number of seals and its root. */
const head = shown(z.string().nullable(), `19:${'9f3c'.repeat(16)}`);

/** As `audit verify` prints it. */
export const verification = z.strictObject({
  selos: z.int().meta({ examples: [19] }),
  linhas: z.int(),
  cabeca: head,
  achados: z.array(finding),
  /** What of tables, views, functions, triggers and rights could not be compared with the release, and why. */
  nao_comparado: shown(z.string().nullable(), null),
  confere: z.boolean(),
});
export type VerificationResource = z.infer<typeof verification>;

export const auditVerdicts = z.strictObject({
  cabeca: head,
  verificacao: z
    .strictObject({
      confere: z.boolean(),
      achados: z.int().meta({ examples: [0] }),
      selos: z.int().meta({ examples: [19] }),
      em: timestamp,
    })
    .nullable(),
  balanco: z
    .strictObject({ fecha: z.boolean(), total_diferencas: z.int(), de: date, ate: date, em: timestamp })
    .nullable(),
});
export type AuditVerdicts = z.infer<typeof auditVerdicts>;

/** `confere` is null when nothing is wrong and a part could not be checked, which `motivo` names. */
export const checkedProof = z.strictObject({
  confere: z.boolean().nullable(),
  motivo: shown(z.string().nullable(), null),
  sem_selo: z.int().meta({ examples: [0] }),
});
export type CheckedProofResource = z.infer<typeof checkedProof>;
