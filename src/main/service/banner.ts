/** What a newcomer reads after `npm start`: at most twenty lines, each command ready to paste. */

import { LOAN_EXAMPLE } from '../../contract/resources/loan-example.ts';

export interface BannerFacts {
  readonly url: string;
  readonly partnerId: string;
  readonly dataDir: string | null;
  /** What stands before each command so that it finds the same data: empty for the default folder. */
  readonly prefix: string;
  readonly loanCore: 'own' | 'outside';
  /** False where a webhook on this machine is refused. */
  readonly takesLoopback: boolean;
}

const SCOPES = 'webhooks:read webhooks:write emprestimos:read emprestimos:write margem:read vinculos:read sandbox';

const JSON_TYPE = `-H 'Content-Type: application/json'`;

export function banner(facts: BannerFacts): string {
  const { url, partnerId, dataDir, prefix, loanCore, takesLoopback } = facts;
  return `Carteiro (sandbox) listens on ${url}${dataDir === null ? '' : `, with its data in ${dataDir}`}. Ctrl-C stops it.
See it in a browser: ${url}/painel. Or, in a second terminal, in this folder, paste:

# 1. a receiver that prints what it gets (leave it running, go on in a third terminal; with --secret and the secret of 3 it verifies)
npm run -s cli -- receive --port 4000
# 2. a token for the sandbox's partner
TOKEN=$(${prefix}npm run -s cli -- token --partner ${partnerId} --scope "${SCOPES}")
# 3. a webhook; the answer shows its secret, once${takesLoopback ? '' : ' (on this machine: start with ALLOW_INSECURE_TARGETS=true)'}
curl -s ${url}/v1/webhooks -H "Authorization: Bearer $TOKEN" ${JSON_TYPE} -d '{"url":"http://127.0.0.1:4000/","eventos":["assinatura.concluida","averbacao.concluida","desembolso.liquidado"]}'
${(loanCore === 'own' ? ownLoan : outsideLoan)(facts)}`;
}

/** The partner brings the loan. */
function ownLoan({ url }: BannerFacts): string {
  const token = `-H "Authorization: Bearer $TOKEN"`;
  return `# 4. a loan
LOAN=$(curl -s ${url}/v1/emprestimos ${token} ${JSON_TYPE} -H "Idempotency-Key: $(date +%s)" -d '${JSON.stringify(LOAN_EXAMPLE)}' | grep -o '[0-9a-f-]\\{36\\}' | head -1)
# 5. its way: signed, registered, disbursed; watch the receiver
curl -s -X POST ${url}/v1/sandbox/emprestimos/$LOAN/assinatura ${token}
curl -s -X POST ${url}/v1/emprestimos/$LOAN/averbacao ${token}; sleep 1
curl -s ${url}/v1/sandbox/emprestimos/$LOAN/desembolso ${token} ${JSON_TYPE} -d '{"resultado":"liquidado"}'
`;
}

/** The lender's core tells what happened to its loan. */
function outsideLoan({ url, partnerId, prefix }: BannerFacts): string {
  const token = `-H "Authorization: Bearer $CORE" ${JSON_TYPE}`;
  const loan = { ...LOAN_EXAMPLE, parceiro_id: partnerId };
  return `# 4. a loan of your core's, which has a token of its own (LOAN_CORE=outside)
CORE=$(${prefix}npm run -s cli -- token --scope nucleo)
LOAN=$(curl -s ${url}/v1/nucleo/emprestimos ${token} -H "Idempotency-Key: $(date +%s)" -d '${JSON.stringify(loan)}' | grep -o '[0-9a-f-]\\{36\\}' | head -1)
# 5. its way: signed, registered, disbursed; watch the receiver
curl -s -X POST ${url}/v1/nucleo/emprestimos/$LOAN/assinatura ${token}
curl -s ${url}/v1/nucleo/emprestimos/$LOAN/averbacao ${token} -d '{"resultado":"solicitada"}'
curl -s ${url}/v1/nucleo/emprestimos/$LOAN/averbacao ${token} -d '{"resultado":"concluida","protocolo_registry":"REG-1"}'
curl -s ${url}/v1/nucleo/emprestimos/$LOAN/desembolso ${token} -d '{"resultado":"liquidado"}'
`;
}
