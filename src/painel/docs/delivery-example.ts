/** A delivery as it leaves, byte for byte, signed with the published example's secret: a verifier accepts it. */
import type { SubscribableName } from '../../contract/events.ts';
import { deliveryHeaders } from '../../delivery/sending/headers.ts';
import { signingKey } from '../../delivery/sending/signature.ts';
import { exampleOf } from '../events/example.ts';

/** The secret of every example; nobody's. */
export const EXAMPLE_SECRET = `whsec_${Buffer.from('um exemplo, nunca um segredo: 32').toString('base64')}`;
const DELIVERY_ID = '019c1402-6001-7b44-a2f8-91c3d5e7f012';
const SENT_AT = new Date('2026-01-31T12:00:00.000Z');
const LOAN_VERSION = 4;

/** The request's line, headers and body, as HTTP writes them. */
export function deliveryExample(event: SubscribableName): string {
  const example = exampleOf(event);
  const body = Buffer.from(JSON.stringify(example));
  const loanVersion = 'emprestimo_id' in example.data ? LOAN_VERSION : null;
  const headers = deliveryHeaders(
    { id: DELIVERY_ID, event, body, loanVersion, isTest: false },
    signingKey(EXAMPLE_SECRET),
    null,
    SENT_AT,
  );
  const lines = headers.flatMap((name, index) => (index % 2 === 0 ? [`${name}: ${headers[index + 1]}`] : []));
  return ['POST /carteiro HTTP/1.1', 'Host: parceiro.example.com', ...lines, '', body.toString()].join('\n');
}
