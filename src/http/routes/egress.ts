/** `GET /v1/enderecos`: from which addresses POSTs come, for a receiver's firewall. */
import { z } from 'zod';
import { component } from '../../contract/values.ts';
import { answered } from '../answer.ts';
import { route, type Routes } from '../route.ts';

export const egressRoutes: Routes = [
  route('GET /v1/enderecos', 'webhooks:read', {
    summary: { pt: 'De onde partem as entregas', en: 'Where deliveries come from' },
    description: {
      pt: 'Endereços e sub-redes (CIDR) de que partem os POSTs aos webhooks, para liberá-los no firewall do receptor. Lista vazia: o serviço não os promete. Um endereço permitido não dispensa a verificação da assinatura.',
      en: "Addresses and subnets (CIDR) from which POSTs to webhooks come, to be allowed in the receiver's firewall. An empty list: the service does not promise any. An allowed address does not replace the check of the signature.",
    },
    answers: answered(200, component('EnderecosDeSaida', { enderecos: z.array(z.string()) }), {
      pt: 'Os endereços de saída',
      en: 'The outgoing addresses',
    }),
  })(async (_, { egressAddresses }) => ({ status: 200 as const, body: { enderecos: [...egressAddresses] } })),
];
