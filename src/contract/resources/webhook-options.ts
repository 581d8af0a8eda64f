/** What a partner chooses for a webhook beside its registration (`webhook.ts`). */
import { z } from 'zod';
import { component } from '../values.ts';
import { DELIVERY_ORDERS } from '../statuses.ts';

export const webhookOptions = component('OpcoesDoWebhook', { ordem: z.enum(DELIVERY_ORDERS) });
