/** The runs that try a webhook's receiver from outside (decisions 0.4, Homologação). */
import { z } from 'zod';
import { component, id, shown, timestamp } from './values.ts';

const STATES = ['em_andamento', 'aprovada', 'reprovada', 'interrompida'] as const;
export type ConformanceState = (typeof STATES)[number];
const VERDICTS = ['passou', 'falhou', 'nao_se_aplica'] as const;

export const begunConformance = component('HomologacaoPedida', { homologacao_id: id });

const line = {
  estado: z.enum(STATES),
  inicio: timestamp,
  /** Null until it has ended; of one that was interrupted, too. */
  fim: timestamp.nullable(),
  /** Of the signed report, as it is downloaded; null until there is one. */
  relatorio_sha256: shown(z.string(), 'b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9').nullable(),
};

export const conformanceList = component('Homologacoes', {
  itens: z.array(
    component('HomologacaoNaLista', {
      homologacao_id: id,
      ...line,
      /** `sub` of the token. */
      pedida_por: shown(z.string(), 'integracao@parceiro.example.com'),
    }),
  ),
});
export type ConformanceList = z.infer<typeof conformanceList>;

export const conformance = component('Homologacao', {
  ...line,
  verificacoes: z.array(
    component('Verificacao', {
      codigo: shown(z.string(), 'assinatura_errada'),
      titulo: shown(z.string(), 'Recusa uma assinatura errada'),
      resultado: z.enum(VERDICTS),
      detalhe: shown(z.string(), 'Enviamos: uma entrega com um caractere da assinatura trocado. Veio: 401 (3 ms).'),
    }),
  ),
});
export type Conformance = z.infer<typeof conformance>;
