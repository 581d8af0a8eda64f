/** What a partner chooses for a webhook beside its registration (`webhook.ts`). */
import { z } from 'zod';
import { DELIVERY_ORDERS } from '../statuses.ts';

export const webhookOptions = z.strictObject({ ordem: z.enum(DELIVERY_ORDERS) }).meta({ id: 'OpcoesDoWebhook' });
