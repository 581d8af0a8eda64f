import { InvalidArgumentError } from 'commander';
import { command, EXIT, Refusal, required } from '../../command.ts';
import { readText } from '../../arguments.ts';

function readName(text: string): string {
  if (!/^[\w.-]+(\/[\w./-]+)?$/.test(text) || text.length > 100) {
    throw new InvalidArgumentError('Give a host and a path without a scheme: carteiro.example.com/log.');
  }
  return text;
}

export const key = command({
  summary: 'make a key that signs checkpoints',
  options: {
    name: required('--name <name>', 'the log’s name, as others shall know it: carteiro.example.com/log', readName),
    file: required('--file <file>', 'where the key is written; it must not be there yet', readText),
  },
  help: `
Writes an Ed25519 key into a file that only you can read, in the form of golang.org/x/mod/sumdb/note. Name the file in
CHECKPOINT_KEY_FILE of api and poll. A log keeps its name for ever: give a new key the same one.

Output: the public key, for auditors and partners: carteiro.example.com/log+9f3c2b11+AQ…`,
  exits: { done: 'the key was made', refused: 'the file is there already, or cannot be written', outOfReach: null },
  async run({ name, file }, { print }) {
    const { writeFile } = await import('node:fs/promises');
    const { makeKey, readSigner } = await import('../../../audit/checkpoint/note.ts');
    const made = makeKey(name);
    await writeFile(file, `${made}\n`, { flag: 'wx', mode: 0o600 }).catch((error: NodeJS.ErrnoException) => {
      throw new Refusal(
        error.code === 'EEXIST'
          ? `${file} is there already: give another name`
          : `${file} cannot be written: ${error.message}`,
      );
    });
    print(readSigner(made)?.text ?? '');
    return EXIT.done;
  },
});
