/** What a partner chooses for a webhook beside its registration (`webhook.ts`). */
import { z } from 'zod';
import { hasNoCpf, NO_CPF } from '../masking/cpf.ts';
import { component, shown, text } from '../values.ts';
import { DELIVERY_ORDERS } from '../statuses.ts';

const rotulo = shown(text(80).refine(hasNoCpf, NO_CPF), 'Produção, averbações').nullable().meta({ 'x-since': '0.4' });

export const webhookOptions = component('OpcoesDoWebhook', { ordem: z.enum(DELIVERY_ORDERS), rotulo });

/** What is left out stays as it is. */
export const webhookOptionChanges = z
  .strictObject({ ordem: z.enum(DELIVERY_ORDERS).optional(), rotulo: rotulo.optional() })
  .refine(({ ordem, rotulo: label }) => ordem !== undefined || label !== undefined, {
    message: 'informe ordem, rotulo ou ambos',
    path: ['ordem'],
  })
  .meta({ minProperties: 1 });
