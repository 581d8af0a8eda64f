/** /llms.txt, which leads programs to the documentation. */
import type { Words } from './words.ts';

export const markdown = {
  what: {
    pt: 'Webhooks do crédito consignado: cada evento chega como um POST assinado, repetido até ser aceito.',
    en: 'Webhooks of payroll credit: each event comes as a signed POST, retried until it is accepted.',
  },
  whole: {
    pt: 'A integração inteira numa página: começo, regras, eventos, verificação, calendário',
    en: 'The whole integration on one page: start, rules, events, verification, schedule',
  },
  operations: { pt: 'Cada operação, em OpenAPI 3.1', en: 'Each operation, in OpenAPI 3.1' },
  receivers: { pt: 'Verificadores para copiar', en: 'Verifiers to copy' },
} satisfies Words;
