/** Seals as if they had been made in another month: a month can be archived only when it is over. */
import { leafHash } from '../../src/audit/seals/tree/merkle.ts';
import { readSeals, sealEntry } from '../../src/audit/seals/seal-log.ts';
import type { Pool } from '../../src/db/pool.ts';

/** Fewer than 256 seals, none of them under a checkpoint yet. */
export async function backdateSeals(pool: Pool, sealedAt: Date, after = 0): Promise<void> {
  await pool.transaction(async (tx) => {
    for (const seal of await readSeals(tx, after, 255)) {
      const leaf = leafHash(sealEntry({ ...seal, sealedAt }));
      await tx`update seals set sealed_at = ${sealedAt}, leaf = ${leaf} where number = ${seal.number}`;
    }
  });
}
