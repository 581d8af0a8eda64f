/** The key under which workers are found by their CPF, from its file. */
import { randomBytes } from 'node:crypto';
import type { Config } from '../../config.ts';
import type { HttpDeps } from '../../http/deps.ts';
import { type WorkerKey, workerKeyOf } from '../../core/workers/worker-key.ts';
import { readKeyFile } from '../named-files.ts';

const KEY_BYTES = 32;
const KEY = /^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/;

/** Null where none is configured: nobody is found by a CPF, and nobody is erased. Throws where the file has no key. */
export async function readWorkerKey(config: Config): Promise<WorkerKey | null> {
  const text = await readKeyFile(config, {
    variable: 'WORKER_KEY_FILE',
    file: config.workerKeyFile,
    sandboxFile: 'worker.key',
    make: () => `${randomBytes(KEY_BYTES).toString('base64')}\n`,
  });
  if (text === null) return null;
  if (!KEY.test(text.trim()))
    throw new Error('WORKER_KEY_FILE: must hold 32 bytes in base64, as `openssl rand -base64 32` makes them');
  return workerKeyOf(Buffer.from(text.trim(), 'base64'));
}

/** The same with the legal period, as the API takes them. */
export async function readWorkers(config: Config): Promise<HttpDeps['workers']> {
  const key = await readWorkerKey(config);
  return key && { key, eraseAfterYears: config.eraseAfterYears };
}
