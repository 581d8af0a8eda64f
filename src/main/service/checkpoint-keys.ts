/** The keys that sign checkpoints, from their file. */
import { makeKey, readSigner, readVerifier, signersOf } from '../../audit/checkpoint/note.ts';
import type { Config } from '../../config.ts';
import { readKeyFile } from '../named-files.ts';

const SANDBOX_NAME = 'carteiro.local/sandbox';

/**
 * The first signer's name is the log's; there is none where nothing signs. Verifiers are every key of the file, retired ones included.
 * Throws where a line of the file is no key; a line is never repeated, because it may be a secret.
 */
export async function readCheckpointKeys(config: Config) {
  const text = await readKeyFile(config, {
    variable: 'CHECKPOINT_KEY_FILE',
    file: config.checkpointKeyFile,
    sandboxFile: 'checkpoint.key',
    make: () => `${makeKey(SANDBOX_NAME)}\n`,
  });
  if (text === null) return { signers: [], verifiers: [] };
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const keys = lines.map((line, index) => {
    const key = readSigner(line) ?? readVerifier(line);
    if (key === null) throw new Error(`CHECKPOINT_KEY_FILE: line ${index + 1} is no key as checkpoint key makes it`);
    return key;
  });
  return { signers: signersOf(keys), verifiers: keys };
}
