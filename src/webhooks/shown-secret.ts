/**
 * Shows a secret again when the request is repeated with its Idempotency-Key within {@link REPEAT_S}.
 *
 * No second copy exists: the key stores a digest of the encrypted blob and a time (by the database's clock), and a repetition
 * decrypts the blob in the webhook's row. A secret that was rotated out meanwhile is not found. Alternative: an encrypted copy
 * beside the key; it must be deleted on time, and backups keep it.
 */
import { createHash } from 'node:crypto';
import type { Pool, Tx } from '../db/pool.ts';
import type { Vault } from './secrets.ts';

export const REPEAT_S = 60;

/** Which secret was shown, and until when it may be again. It tells nothing of the secret. */
export interface ShownSecret {
  /** SHA-256 of the encrypted secret, in hexadecimal. */
  readonly encrypted: string;
  readonly until: string;
}

/** What a key keeps of a secret that is shown by this transaction. */
export async function noteShown(tx: Tx, encrypted: Buffer): Promise<ShownSecret> {
  const [{ until }] = await tx<[{ until: Date }]>`
    select clock_timestamp() + ${REPEAT_S} * interval '1 second' as until`;
  return { encrypted: digestOf(encrypted), until: until.toISOString() };
}

/** The secret that was shown; null when its time is over, or the webhook no longer has it. */
export async function showAgain(
  pool: Pool,
  vault: Vault,
  webhookId: string,
  shown: ShownSecret,
): Promise<string | null> {
  const [row] = await pool.run(
    (sql) => sql<{ encrypted: (Buffer | null)[] }[]>`
      select array[encrypted_secret, previous_encrypted_secret] as encrypted
      from webhooks where id = ${webhookId} and clock_timestamp() < ${shown.until}`,
  );
  const found = row?.encrypted.find((encrypted) => encrypted !== null && digestOf(encrypted) === shown.encrypted);
  return found ? vault.decrypt(webhookId, found).secret : null;
}

function digestOf(encrypted: Buffer): string {
  return createHash('sha256').update(encrypted).digest('hex');
}
