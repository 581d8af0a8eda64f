/** No check fails on a receiver that partners copy, run as it stands, nor on Debian's `webhook` (apt-get install webhook). */
import { expect, test } from 'vitest';
import { HEADER_SIGNATURE } from '../../src/contract/delivery.ts';
import { checksOf, failed, SECRET } from '../support/conformance.ts';
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

const PROGRAMS: readonly ReceiverProgram[] = [
  {
    name: 'Node',
    version: [process.execPath, '--version'],
    files: { 'carteiro.mjs': 'carteiro.mjs', 'receiver.mjs': 'receiver.mjs' },
    command: () => [process.execPath, 'receiver.mjs'],
  },
  {
    name: 'Python',
    version: ['python3', '--version'],
    files: { 'carteiro.py': 'carteiro.py', 'receiver.py': 'receiver.py' },
    command: () => ['python3', 'receiver.py'],
  },
  {
    name: 'Java',
    version: ['javac', '-version'],
    files: { 'Carteiro.java': 'Carteiro.java', 'Receiver.java': 'Receiver.java' },
    build: ['javac', '-encoding', 'UTF-8', 'Carteiro.java', 'Receiver.java'],
    command: () => ['java', '-cp', '.', 'Receiver'],
  },
  {
    name: 'Go',
    version: ['go', 'version'],
    files: {
      'go.mod': { text: 'module receiver\n\ngo 1.20\n' },
      'carteiro/carteiro.go': 'carteiro.go',
      'main.go': 'main.go',
    },
    build: ['go', 'build', '-o', 'receiver', '.'],
    command: () => ['./receiver'],
  },
  {
    name: 'PHP',
    version: ['php', '--version'],
    files: { 'carteiro.php': 'carteiro.php', 'receiver.php': 'receiver.php' },
    command: (port) => ['php', '-S', `127.0.0.1:${port}`, 'receiver.php'],
  },
  {
    name: 'Ruby',
    version: ['ruby', '--version'],
    files: { 'carteiro.rb': 'carteiro.rb', 'receiver.rb': 'receiver.rb' },
    command: () => ['ruby', 'receiver.rb'],
  },
  {
    name: 'C#',
    version: ['mcs', '--version'],
    files: { 'Carteiro.cs': 'Carteiro.cs', 'Receiver.cs': 'Receiver.cs' },
    build: ['mcs', '-out:receiver.exe', 'Carteiro.cs', 'Receiver.cs'],
    command: () => ['mono', 'receiver.exe'],
  },
  {
    name: 'webhook of Debian',
    version: ['webhook', '-version'],
    files: { 'hooks.json': { text: JSON.stringify([HOOK]) } },
    command: (port) => ['webhook', '-hooks', 'hooks.json', '-ip', '127.0.0.1', '-port', port],
    route: '/hooks/carteiro',
  },
];

test.for(PROGRAMS)('$name', async (program, context) => {
  expect(failed(await checksOf({ url: await startReceiverProgram(program, SECRET, context) }))).toEqual([]);
});
