/** The keys of this process: those that encrypt signing secrets, that sign checkpoints, and under which workers are found by CPF. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { makeKey, readSigner, readVerifier, signersOf } from '../../audit/checkpoint/note.ts';
import { type Config, ConfigError } from '../../config.ts';
import { type WorkerKey, workerKeyOf } from '../../core/workers/worker-key.ts';
import { KEY } from '../../settings/environment-rules.ts';
import type { HttpDeps } from '../../http/deps.ts';
import { readOrMakeFile } from '../../settings/key-file.ts';
import { readNamed } from '../named-files.ts';

const SANDBOX_NAME = 'carteiro.local/sandbox';

const makeBytes = () => randomBytes(32).toString('base64');

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
  const text = await readOrMakeFile(ownKeyFile(dataDir), makeBytes);
  return [Buffer.from(text, 'base64')];
}

/**
 * The first signer's name is the log's; no signer: nothing is signed. Verifiers: every key of the file, retired ones too. Throws
 * {@link ConfigError} where a line is no key, and never repeats the line: it may be a secret.
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
    if (key === null)
      throw new ConfigError([`CHECKPOINT_KEY_FILE: line ${index + 1} is no key as checkpoint key makes it`]);
    return key;
  });
  return { signers: signersOf(keys), verifiers: keys };
}

/** Null if none is configured: no worker can be found or erased. Throws {@link ConfigError} if the file has no key. */
export async function readWorkerKey(config: Config): Promise<WorkerKey | null> {
  const text = await readKeyFile(config, {
    variable: 'WORKER_KEY_FILE',
    file: config.workerKeyFile,
    sandboxFile: 'worker.key',
    make: () => `${makeBytes()}\n`,
  });
  if (text === null) return null;
  if (!KEY.test(text.trim()))
    throw new ConfigError(['WORKER_KEY_FILE: must hold 32 bytes in base64, as `openssl rand -base64 32` makes them']);
  return workerKeyOf(Buffer.from(text.trim(), 'base64'));
}

/** The same with the legal period, as the API takes them. */
export async function readWorkers(config: Config): Promise<HttpDeps['workers']> {
  const key = await readWorkerKey(config);
  return key && { key, eraseAfterYears: config.eraseAfterYears };
}

interface OwnKey {
  readonly variable: string;
  /** Null: the setting is absent. */
  readonly file: string | null;
  /** Under DATA_DIR. */
  readonly sandboxFile: string;
  readonly make: () => string;
}

/** The text of a key's file; in a sandbox without the setting, of its own one, which is made. Null where there is no key. */
async function readKeyFile({ dataDir, sandbox }: Config, own: OwnKey): Promise<string | null> {
  const { variable, file, sandboxFile, make } = own;
  if (file === null) return sandbox ? readOrMakeFile(join(dataDir, sandboxFile), make) : null;
  return readNamed(variable, file);
}
