/** The key for finding workers by CPF; without it a digest does not reveal its CPF. */
import { createHash, createHmac } from 'node:crypto';

export interface WorkerKey {
  readonly secret: Buffer;
  /** Names the key, and tells nothing of it. */
  readonly id: string;
}

export function workerKeyOf(secret: Buffer): WorkerKey {
  return { secret, id: createHash('sha256').update('carteiro/worker-key').update(secret).digest('hex').slice(0, 8) };
}

/** HMAC-SHA256 of a CPF's 11 digits. */
export function digestOf({ secret }: WorkerKey, cpf: string): Buffer {
  return createHmac('sha256', secret).update(cpf).digest();
}
