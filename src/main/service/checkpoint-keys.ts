/** The keys that sign checkpoints, from their file. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  makeKey,
  readSigner,
  readVerifier,
  type Signer,
  signersOf,
  type Verifier,
} from '../../audit/checkpoint/note.ts';
import type { Config } from '../../config.ts';
import { readOrMakeFile } from '../../key-file.ts';

const SANDBOX_NAME = 'carteiro.local/sandbox';

export interface CheckpointKeys {
  /** The first one's name is the log's; empty where nothing signs. */
  readonly signers: readonly Signer[];
  /** Every key of the file, retired ones included. */
  readonly verifiers: readonly Verifier[];
}

/** Throws where a line of the file is no key; a line is never repeated, because it may be a secret. */
export async function readCheckpointKeys({ checkpointKeyFile, dataDir, sandbox }: Config): Promise<CheckpointKeys> {
  if (checkpointKeyFile === null && !sandbox) return { signers: [], verifiers: [] };
  const text =
    checkpointKeyFile === null
      ? await readOrMakeFile(join(dataDir, 'checkpoint.key'), () => `${makeKey(SANDBOX_NAME)}\n`)
      : await readFile(checkpointKeyFile, 'utf8').catch((cause: Error) => {
          throw new Error(`CHECKPOINT_KEY_FILE: ${checkpointKeyFile} cannot be read`, { cause });
        });
  return parseKeys(text);
}

function parseKeys(text: string): CheckpointKeys {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const keys = lines.map((line, index) => {
    const key = readSigner(line) ?? readVerifier(line);
    if (key === null) throw new Error(`CHECKPOINT_KEY_FILE: line ${index + 1} is no key as checkpoint key makes it`);
    return key;
  });
  return { signers: signersOf(keys), verifiers: keys };
}
