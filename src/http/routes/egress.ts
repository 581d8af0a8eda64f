/** `GET /v1/enderecos`: from which addresses POSTs come, for a receiver's firewall. */
import { egress } from '../../contract/resources/egress.ts';
import type { HttpDeps } from '../deps.ts';
import type { AddOperation } from '../operation.ts';

export function addEgressRoutes(add: AddOperation, { egressAddresses }: HttpDeps): void {
  add(
    {
      method: 'get',
      path: '/v1/enderecos',
      summary: { pt: 'De onde partem as entregas', en: 'Where deliveries come from' },
      description: {
        pt: 'Endereços e sub-redes (CIDR) de que partem os POSTs aos webhooks, para liberá-los no firewall do receptor. Lista vazia: o serviço não os promete. Um endereço permitido não dispensa a verificação da assinatura.',
        en: "Addresses and subnets (CIDR) from which POSTs to webhooks come, to be allowed in the receiver's firewall. An empty list: the service does not promise any. An allowed address does not replace the check of the signature.",
      },
      scope: 'webhooks:read',
      answers: {
        200: { description: { pt: 'Os endereços de saída', en: 'The outgoing addresses' }, schema: egress },
      },
      errors: [],
    },
    () => Promise.resolve({ status: 200 as const, body: { enderecos: [...egressAddresses] } }),
  );
}
