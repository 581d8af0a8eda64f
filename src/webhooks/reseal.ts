/**
 * Replaces the encryption key of signing secrets: encrypts each again with the first key of the ring.
 *
 * Invariant: every secret always has an encrypted form that some key of the ring decrypts. Each batch is one transaction and
 * locks its webhooks, so a rotation waits for it; a claim takes no lock and sees the old form or the new one. The old keys are
 * retired when no secret is left under them. No process can bring one back: the command first checks the keys of each living
 * process, and each write of a secret checks the retired keys.
 *
 * Crash: run it again; the key id in each form shows what is left.
 */
import { FIRST_ID } from '../db/first-id.ts';
import type { Pool, Tx } from '../db/pool.ts';
import { credentialsName } from './gateway/credentials.ts';
import { KEY_ID_BYTES, tryDecrypt, type Vault } from './secrets.ts';

const BATCH = 100;

interface Stored {
  readonly id: string;
  readonly current: Buffer;
  readonly previous: Buffer | null;
  readonly credentials: Buffer | null;
}

export interface Resealed {
  readonly webhooks: number;
  /** Webhooks with a secret that no key of the ring decrypts; they are unchanged. */
  readonly unopened: readonly string[];
}

export interface Resealing {
  readonly vault: Vault;
  /** The public name of the first key. */
  readonly newestKeyId: string;
  readonly onProgress: (webhooks: number) => void;
}

/** Encrypts every secret that another key than the first holds, until a whole pass finds none. */
export async function resealAll(pool: Pool, resealing: Resealing): Promise<Resealed> {
  // A previous secret whose time is over signs nothing, and its key may be lost.
  await pool.run(
    (sql) => sql`
      update webhooks set previous_encrypted_secret = null, previous_until = null, signs_from = null
      where previous_until <= now()`,
  );
  let webhooks = 0;
  for (;;) {
    const unopened: string[] = [];
    let found = 0;
    for (let after: string | null = FIRST_ID; after !== null;) {
      const from: string = after;
      const batch = await pool.transaction((tx) => resealBatch(tx, from, resealing));
      unopened.push(...batch.unopened);
      found += batch.webhooks;
      after = batch.last;
      resealing.onProgress(webhooks + found);
    }
    webhooks += found;
    if (found === 0) return { webhooks, unopened };
  }
}

async function resealBatch(
  tx: Tx,
  after: string,
  { vault, newestKeyId }: Resealing,
): Promise<Resealed & { readonly last: string | null }> {
  const rows = await tx<Stored[]>`
    select id, encrypted_secret as current, previous_encrypted_secret as previous, encrypted_credentials as credentials
    from webhooks
    where id > ${after}
      and (substr(encrypted_secret, 1, ${KEY_ID_BYTES}::int) <> convert_to(${newestKeyId}, 'UTF8')
           or substr(previous_encrypted_secret, 1, ${KEY_ID_BYTES}::int) <> convert_to(${newestKeyId}, 'UTF8')
           or substr(encrypted_credentials, 1, ${KEY_ID_BYTES}::int) <> convert_to(${newestKeyId}, 'UTF8'))
    order by id
    limit ${BATCH}
    for no key update`;
  const unopened: string[] = [];
  for (const { id, current, previous, credentials } of rows) {
    const again = (name: string, blob: Buffer | null) => blob && encryptAgain(vault, newestKeyId, name, blob);
    const all = [again(id, current), again(id, previous), again(credentialsName(id), credentials)] as const;
    if (all.includes('unopened')) unopened.push(id);
    else
      await tx`
        update webhooks
        set encrypted_secret = ${all[0]}, previous_encrypted_secret = ${all[1]}, encrypted_credentials = ${all[2]}
        where id = ${id}`;
  }
  return {
    webhooks: rows.length - unopened.length,
    unopened,
    last: rows.length === BATCH ? (rows.at(-1)?.id ?? null) : null,
  };
}

function encryptAgain(vault: Vault, newestKeyId: string, id: string, blob: Buffer): Buffer | 'unopened' {
  const opened = tryDecrypt(vault, id, blob);
  if (opened === null) return 'unopened';
  return opened.keyId === newestKeyId ? blob : vault.encrypt(id, opened.secret);
}
