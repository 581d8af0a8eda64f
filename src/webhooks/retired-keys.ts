/** The keys of `SECRETS_KEY` that `secrets reseal` has retired: nothing may be encrypted with them any more. */
import type { Tx } from '../db/pool.ts';
import type { Vault } from './secrets.ts';

/** Retires these keys: from now on a process that has one of them in front refuses to start. */
export async function retireKeys(tx: Tx, keyIds: readonly string[], actor: string): Promise<void> {
  await tx`
    insert into retired_keys (key_id, actor)
    select key_id, ${actor} from unnest(${keyIds as string[]}::text[]) as key_id
    on conflict do nothing`;
}

export async function readRetired(sql: Tx, keyIds: readonly string[]): Promise<string[]> {
  const rows = await sql<{ keyId: string }[]>`
    select key_id as "keyId" from retired_keys where key_id = any (${keyIds as string[]}::text[])`;
  return rows.map(({ keyId }) => keyId);
}

/** Whether what `vault` encrypts would be lost: each process that starts anew is without that key. */
export async function isKeyRetired(tx: Tx, vault: Vault): Promise<boolean> {
  return (await readRetired(tx, [vault.keyId])).length > 0;
}
