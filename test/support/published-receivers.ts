/** The receivers of src/http/receivers as they stand, each run by its language. */
import type { ReceiverProgram } from './receiver-programs.ts';

const NODE: ReceiverProgram = {
  name: 'Node',
  version: [process.execPath, '--version'],
  files: { 'carteiro.mjs': 'carteiro.mjs', 'receiver.mjs': 'receiver.mjs' },
  command: () => [process.execPath, 'receiver.mjs'],
};
const PYTHON: ReceiverProgram = {
  name: 'Python',
  version: ['python3', '--version'],
  files: { 'carteiro.py': 'carteiro.py', 'receiver.py': 'receiver.py' },
  command: () => ['python3', 'receiver.py'],
};
export const JAVA: ReceiverProgram = {
  name: 'Java',
  version: ['javac', '-version'],
  files: { 'Carteiro.java': 'Carteiro.java', 'Receiver.java': 'Receiver.java' },
  build: ['javac', '-encoding', 'UTF-8', 'Carteiro.java', 'Receiver.java'],
  command: () => ['java', '-cp', '.', 'Receiver'],
};
export const GO: ReceiverProgram = {
  name: 'Go',
  version: ['go', 'version'],
  files: {
    'go.mod': { text: 'module receiver\n\ngo 1.20\n' },
    'carteiro/carteiro.go': 'carteiro.go',
    'main.go': 'main.go',
  },
  build: ['go', 'build', '-o', 'receiver', '.'],
  command: () => ['./receiver'],
};
export const PHP: ReceiverProgram = {
  name: 'PHP',
  version: ['php', '--version'],
  files: { 'carteiro.php': 'carteiro.php', 'receiver.php': 'receiver.php' },
  command: (port) => ['php', '-S', `127.0.0.1:${port}`, 'receiver.php'],
};
const RUBY: ReceiverProgram = {
  name: 'Ruby',
  version: ['ruby', '--version'],
  files: { 'carteiro.rb': 'carteiro.rb', 'receiver.rb': 'receiver.rb' },
  command: () => ['ruby', 'receiver.rb'],
};
const C_SHARP: ReceiverProgram = {
  name: 'C#',
  version: ['mcs', '--version'],
  files: { 'Carteiro.cs': 'Carteiro.cs', 'Receiver.cs': 'Receiver.cs' },
  build: ['mcs', '-out:receiver.exe', 'Carteiro.cs', 'Receiver.cs'],
  command: () => ['mono', 'receiver.exe'],
};

export const PUBLISHED: readonly ReceiverProgram[] = [NODE, PYTHON, JAVA, GO, PHP, RUBY, C_SHARP];
