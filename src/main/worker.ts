/** What the commands share that find a worker by CPF. */
import { InvalidArgumentError } from 'commander';
import { isCpf } from '../contract/masking/cpf.ts';
import type { WorkerKey } from '../core/workers/worker-key.ts';
import type { Pool } from '../db/pool.ts';
import { COURT_ORDER } from '../contract/resources/worker-resource.ts';
import { type CommandLine, UsageError } from './command.ts';
import type { Around } from './job-pool.ts';
import { steer } from './operator.ts';
import { readWorkerKey } from './service/key-files.ts';

export function readCpf(text: string): string {
  const digits = text.replaceAll(/[.-]/g, '');
  if (!isCpf(digits)) throw new InvalidArgumentError('Give a CPF: 11 digits with right check digits.');
  return digits;
}

export function readCourtOrder(text: string): string {
  if (!COURT_ORDER.test(text))
    throw new InvalidArgumentError('Give a number as the court writes it: digits, dots, dashes and slashes.');
  return text;
}

/** Works with the key of the environment. */
export async function withWorkerKey<T>(
  line: CommandLine,
  work: (pool: Pool, key: WorkerKey, around: Around) => Promise<T>,
): Promise<T> {
  const { config } = line.configure();
  const key = await readWorkerKey(config);
  if (key === null) throw new UsageError('WORKER_KEY_FILE is required: name the file of the key that api has');
  return steer(line, (pool, around) => work(pool, key, around));
}
