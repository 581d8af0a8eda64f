/** The keys that sign checkpoints, from their file. */
import {
  makeKey,
  readSigner,
  readVerifier,
  type Signer,
  signersOf,
  type Verifier,
} from '../../audit/checkpoint/note.ts';
import type { Config } from '../../config.ts';
import { readKeyFile } from '../named-files.ts';

const SANDBOX_NAME = 'carteiro.local/sandbox';

export interface CheckpointKeys {
  /** The first one's name is the log's; empty where nothing signs. */
  readonly signers: readonly Signer[];
  /** Every key of the file, retired ones included. */
  readonly verifiers: readonly Verifier[];
}

/** Throws where a line of the file is no key; a line is never repeated, because it may be a secret. */
export async function readCheckpointKeys(config: Config): Promise<CheckpointKeys> {
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
