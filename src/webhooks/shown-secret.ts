/**
 * A secret that was shown under an Idempotency-Key, shown again to whoever repeats the request within {@link REPEAT_S}.
 *
 * No second copy of it exists: the registration keeps its secrets sealed as long as they sign, and what the key keeps is
 * the digest of one sealed blob and a time. A repetition finds that blob in the registration's row and opens it. Afterwards
 * there is nothing to take away. Alternative: a sealed copy beside the key, which somebody must delete on time, and which
 * a backup keeps all the same.
 * The database's clock decides. A secret that was ended or rotated out meanwhile is not found, and not shown.
 */
import { createHash } from 'node:crypto';
import type { Pool, Tx } from '../db/pool.ts';
import type { Vault } from './secrets.ts';

/** How long the answer that showed a secret can be repeated with it, in seconds. */
export const REPEAT_S = 60;

/** Which secret was shown, and until when it may be again. It tells nothing of the secret. */
export interface ShownSecret {
  /** SHA-256 of the sealed secret, in hexadecimal. */
  readonly sealed: string;
  readonly until: string;
}

/** What a key keeps of a secret that is shown by this transaction. */
export async function noteShown(tx: Tx, sealed: Buffer): Promise<ShownSecret> {
  const [{ until }] = await tx<[{ until: Date }]>`
    select clock_timestamp() + ${REPEAT_S} * interval '1 second' as until`;
  return { sealed: digestOf(sealed), until: until.toISOString() };
}

/** The secret that was shown; null when its time is over, or the registration no longer has it. */
export async function showAgain(
  pool: Pool,
  vault: Vault,
  webhookId: string,
  shown: ShownSecret,
): Promise<string | null> {
  const [row] = await pool.run(
    (sql) => sql<{ sealed: (Buffer | null)[] }[]>`
      select array[sealed_secret, previous_sealed_secret] as sealed
      from webhooks where id = ${webhookId} and clock_timestamp() < ${shown.until}`,
  );
  const found = row?.sealed.find((sealed) => sealed !== null && digestOf(sealed) === shown.sealed);
  return found ? vault.open(webhookId, found).secret : null;
}

function digestOf(sealed: Buffer): string {
  return createHash('sha256').update(sealed).digest('hex');
}
