/** Which keys the stored signing secrets need, told from the key id that each sealed form begins with. */
import type { Tx } from '../db/pool.ts';
import { KEY_ID_BYTES } from './secrets.ts';

export interface SealingKey {
  /** As {@link keyIdOf} gives it. */
  readonly keyId: string;
  /** How many secrets it sealed. */
  readonly secrets: number;
}

/** The keys of every secret that may sign: those of active registrations, and their previous ones while they are valid. */
export async function readSealingKeys(sql: Tx): Promise<SealingKey[]> {
  return sql<SealingKey[]>`
    select encode(substr(sealed, 1, ${KEY_ID_BYTES}::int), 'escape') as "keyId", count(*)::int as secrets
    from (
      select sealed_secret from webhooks where active
      union all
      select previous_sealed_secret from webhooks where active and previous_until > now()
    ) secret (sealed)
    group by 1
    order by 2 desc, 1`;
}
