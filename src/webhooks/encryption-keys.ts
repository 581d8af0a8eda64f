/** The keys that the stored signing secrets need, by the key id at the start of each encrypted form. */
import { FIRST_ID } from '../db/first-id.ts';
import type { Tx } from '../db/pool.ts';
import { KEY_ID_BYTES, tryDecrypt, type Vault } from './secrets.ts';

/** The keys of every secret that may sign: those of active webhooks, and their previous ones while they are valid. */
export async function readEncryptionKeys(sql: Tx) {
  return sql<{ readonly keyId: string; readonly secrets: number }[]>`
    select encode(substr(encrypted, 1, ${KEY_ID_BYTES}::int), 'escape') as "keyId", count(*)::int as secrets
    from (
      select encrypted_secret from webhooks where active
      union all
      select previous_encrypted_secret from webhooks where active and previous_until > now()
      union all
      select encrypted_credentials from webhooks where active and encrypted_credentials is not null
    ) secret (encrypted)
    group by 1
    order by 2 desc, 1`;
}

const PAGE = 2_000;

/**
 * Active webhooks whose secret `vault` cannot open with a key of `ring`: altered, or another webhook's. Reads them all, in pages.
 */
export async function readBroken(sql: Tx, vault: Vault, ring: readonly string[]): Promise<readonly string[]> {
  const broken: string[] = [];
  for (let after: string | null = FIRST_ID; after !== null;) {
    const page: { id: string; current: Buffer; previous: Buffer | null }[] = await sql`
      select id, encrypted_secret as current,
             case when previous_until > now() then previous_encrypted_secret end as previous
      from webhooks where active and id > ${after} order by id limit ${PAGE}`;
    for (const { id, current, previous } of page) {
      const forms = previous === null ? [current] : [current, previous];
      if (forms.some((form) => ring.includes(keyOf(form)) && tryDecrypt(vault, id, form) === null)) broken.push(id);
    }
    after = page.length === PAGE ? (page.at(-1)?.id ?? null) : null;
  }
  return broken;
}

const keyOf = (form: Buffer) => form.toString('latin1', 0, KEY_ID_BYTES);

/** Retires keys of `SECRETS_KEY`: nothing may be encrypted with them, and a process that has one in front refuses to start. */
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

/** Whether the key of `vault` is retired: a restarted process lacks it. */
export async function isKeyRetired(tx: Tx, vault: Vault): Promise<boolean> {
  return (await readRetired(tx, [vault.keyId])).length > 0;
}
