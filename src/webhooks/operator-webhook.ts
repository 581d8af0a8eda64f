/**
 * The operator's own webhook gets the notices about all partners' webhooks, with the same outbox, schedule and log of attempts.
 * It is the one webhook of a reserved partner (operator_partner.sql). Each poller sets it at its start from the environment.
 *
 * The secret is a variable too, so no answer needs to show it. It is compared with the decrypted stored one, because encrypting
 * it again gives other bytes.
 */
import { NOTICE_NAMES } from '../contract/events.ts';
import type { Pool } from '../db/pool.ts';
import { tryDecrypt, type Vault } from './secrets.ts';

export interface OperatorWebhook {
  /** The normalised URL that the target check accepted. */
  readonly url: string;
  readonly secret: string;
}

/** Null deactivates it. */
export async function keepOperatorWebhook(pool: Pool, vault: Vault, wanted: OperatorWebhook | null): Promise<void> {
  await pool.transaction(async (tx) => {
    const [{ id, stored }] = await tx<[{ id: string; stored: Buffer | null }]>`
      select own.id, (select encrypted_secret from webhooks w where w.id = own.id) as stored
      from (select operator_partner() as id) own`;
    const url = wanted?.url ?? null;
    const isKept = wanted !== null && stored !== null && tryDecrypt(vault, id, stored)?.secret === wanted.secret;
    const encrypted = isKept ? stored : wanted && vault.encrypt(id, wanted.secret);
    await tx`
      select keep_operator_webhook(${url}, ${encrypted}, ${NOTICE_NAMES as string[]})`;
  });
}
