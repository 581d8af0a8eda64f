/** No check fails on a receiver that partners copy, run as it stands, nor on Debian's `webhook` (apt-get install webhook). */
import { expect, test } from 'vitest';
import { HEADER_SIGNATURE } from '../../src/contract/delivery.ts';
import { checksOf, failed, SECRET } from '../support/conformance.ts';
import { PUBLISHED } from '../support/published-receivers.ts';
import { type ReceiverProgram, startReceiverProgram } from '../support/receiver-programs.ts';

const HOOK = {
  id: 'carteiro',
  'execute-command': '/bin/true',
  'trigger-rule': {
    match: { type: 'payload-hmac-sha256', secret: SECRET, parameter: { source: 'header', name: HEADER_SIGNATURE } },
  },
  'trigger-signature-soft-failures': true,
  'trigger-rule-mismatch-http-response-code': 403,
};

const DEBIANS: ReceiverProgram = {
  name: 'webhook of Debian',
  version: ['webhook', '-version'],
  files: { 'hooks.json': { text: JSON.stringify([HOOK]) } },
  command: (port) => ['webhook', '-hooks', 'hooks.json', '-ip', '127.0.0.1', '-port', port],
  route: '/hooks/carteiro',
};

test.for([...PUBLISHED, DEBIANS])('$name', async (program, context) => {
  expect(failed(await checksOf({ url: await startReceiverProgram(program, SECRET, context) }))).toEqual([]);
});
