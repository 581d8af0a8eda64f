/** What a partner chooses for a webhook beside its registration (`webhook.ts`). */
import { z } from 'zod';
import { component, shown } from '../values.ts';
import { DELIVERY_ORDERS } from '../statuses.ts';

export const MAX_LABEL = 80;

const rotulo = shown(
  z
    .string()
    .trim()
    .min(1, 'não pode ser vazio')
    .max(MAX_LABEL, `tem no máximo ${MAX_LABEL} caracteres`)
    .refine((text) => !/\p{Cc}/u.test(text), 'deve ser uma linha'),
  'Produção, averbações',
).nullable();

export const webhookOptions = component('OpcoesDoWebhook', { ordem: z.enum(DELIVERY_ORDERS), rotulo });

/** What is left out stays as it is. */
export const webhookOptionChanges = z
  .strictObject({ ordem: z.enum(DELIVERY_ORDERS).optional(), rotulo: rotulo.optional() })
  .refine(({ ordem, rotulo: label }) => ordem !== undefined || label !== undefined, {
    message: 'informe ordem, rotulo ou ambos',
    path: ['ordem'],
  });
