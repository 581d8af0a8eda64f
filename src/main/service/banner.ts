/** What a newcomer reads after `npm start`: at most twenty lines, each command ready to paste. */

import { LOAN_EXAMPLE } from '../../contract/resources/loan-example.ts';

export interface BannerFacts {
  readonly url: string;
  readonly partnerId: string;
  readonly dataDir: string | null;
  /** What stands before each command so that it finds the same data: empty for the default folder. */
  readonly prefix: string;
}

const SCOPES = 'webhooks:read webhooks:write emprestimos:read emprestimos:write margem:read vinculos:read sandbox';

export function banner({ url, partnerId, dataDir, prefix }: BannerFacts): string {
  const json = `-H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json'`;
  return `Carteiro (sandbox) listens on ${url}${dataDir === null ? '' : `, with its data in ${dataDir}`}. Ctrl-C stops it.
See it in a browser: ${url}/painel. Or, in a second terminal, in this folder, paste:

# 1. a receiver that prints what it gets (leave it running, go on in a third terminal; with --secret and the secret of 3 it verifies)
npm run -s cli -- receive --port 4000
# 2. a token for the sandbox's partner
TOKEN=$(${prefix}npm run -s cli -- token --partner ${partnerId} --scope "${SCOPES}")
# 3. a webhook; the answer shows its secret, once
curl -s ${url}/v1/webhooks ${json} -d '{"url":"http://127.0.0.1:4000/","eventos":["assinatura.concluida","averbacao.concluida","desembolso.liquidado"]}'
# 4. a loan
LOAN=$(curl -s ${url}/v1/emprestimos ${json} -H "Idempotency-Key: $(date +%s)" -d '${JSON.stringify(LOAN_EXAMPLE)}' | grep -o '[0-9a-f-]\\{36\\}' | head -1)
# 5. its way: signed, registered, disbursed; watch the receiver
curl -s -X POST ${url}/v1/sandbox/emprestimos/$LOAN/assinatura -H "Authorization: Bearer $TOKEN"
curl -s -X POST ${url}/v1/emprestimos/$LOAN/averbacao -H "Authorization: Bearer $TOKEN"; sleep 1
curl -s ${url}/v1/sandbox/emprestimos/$LOAN/desembolso ${json} -d '{"resultado":"liquidado"}'
`;
}
