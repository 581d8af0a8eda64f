/** A key that signs checkpoints in tests, and what trusts it. */
import { type Signer, makeKey, readSigner } from '../../src/audit/checkpoint/note.ts';
import { signHead } from '../../src/audit/checkpoint/stored.ts';
import { sealAll } from '../../src/audit/seals/sealer.ts';
import type { Trusted } from '../../src/audit/proof/check-proof.ts';
import type { Pool } from '../../src/db/pool.ts';

export const SIGNER = readSigner(makeKey('carteiro.test/log')) as Signer;
export const TRUSTED: Trusted = { keys: [SIGNER] };

/** Seals what is settled, and signs the head. */
export async function sealAndSign(pool: Pool): Promise<void> {
  await sealAll(pool);
  await pool.transaction((tx) => signHead(tx, [SIGNER]));
}
