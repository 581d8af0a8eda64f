import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { Config } from '../../config.ts';
import { readOrMakeFile } from '../../key-file.ts';

const KEY_BYTES = 32;

function ownKeyFile(dataDir: string): string {
  return join(dataDir, 'secrets-key');
}

/** Where the keys come from, as a sentence's subject. */
export function secretsKeysSource({ secretsKeys, dataDir }: Config): string {
  return secretsKeys.length > 0 ? 'SECRETS_KEY' : `the key in ${ownKeyFile(dataDir)}`;
}

/** The keys that encrypt signing secrets: `SECRETS_KEY`, or the sandbox's own under the data folder. */
export async function readSecretsKeys({ secretsKeys, dataDir }: Config): Promise<readonly Buffer[]> {
  if (secretsKeys.length > 0) return secretsKeys;
  const text = await readOrMakeFile(ownKeyFile(dataDir), () => randomBytes(KEY_BYTES).toString('base64'));
  return [Buffer.from(text, 'base64')];
}
