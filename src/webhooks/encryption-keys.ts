/** Which keys the stored signing secrets need, told from the key id that each encrypted form begins with. */
import type { Tx } from '../db/pool.ts';
import { KEY_ID_BYTES } from './secrets.ts';

export interface EncryptionKey {
  /** As {@link keyIdOf} gives it. */
  readonly keyId: string;
  /** How many secrets it encrypted. */
  readonly secrets: number;
}

/** The keys of every secret that may sign: those of active webhooks, and their previous ones while they are valid. */
export async function readEncryptionKeys(sql: Tx): Promise<EncryptionKey[]> {
  return sql<EncryptionKey[]>`
    select encode(substr(encrypted, 1, ${KEY_ID_BYTES}::int), 'escape') as "keyId", count(*)::int as secrets
    from (
      select encrypted_secret from webhooks where active
      union all
      select previous_encrypted_secret from webhooks where active and previous_until > now()
    ) secret (encrypted)
    group by 1
    order by 2 desc, 1`;
}
