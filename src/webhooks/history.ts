/** The beginning and the end of every change of a webhook: its locked row, and a line of history. */
import type { WebhookChange } from '../contract/statuses.ts';
import type { Tx } from '../db/pool.ts';

export interface Subject {
  readonly partnerId: string;
  readonly id: string;
  /** `sub` of the token. */
  readonly actor: string;
  readonly requestId: string | null;
}

export interface WebhookRow {
  readonly id: string;
  readonly url: string;
  readonly events: string[];
  readonly active: boolean;
  readonly createdAt: Date;
}

/** The partner's webhook, locked until the transaction ends; null when it has none of that id. */
export async function lockWebhook(tx: Tx, { id, partnerId }: Subject): Promise<WebhookRow | null> {
  const [row] = await tx<WebhookRow[]>`
    select id, url, events, active, created_at as "createdAt"
    from webhooks where id = ${id} and partner_id = ${partnerId} for no key update`;
  return row ?? null;
}

/** By whom and why a webhook was changed. */
export interface Line {
  readonly actor: string;
  readonly requestId?: string | null;
  readonly reason?: string | null;
  /** Null: now. */
  readonly at?: Date | null;
  /** When a secret begins to sign that was made before its time; null: with the change. */
  readonly takesEffectAt?: Date | null;
}

/** Writes that `change` made the webhook what its row now says. */
export async function writeHistory(
  tx: Tx,
  id: string,
  change: WebhookChange,
  { actor, requestId = null, reason = null, at = null, takesEffectAt = null }: Line,
): Promise<void> {
  await tx`
    insert into webhook_history (webhook_id, partner_id, url, events, active, change, actor, request_id, reason,
                                 changed_at, takes_effect_at)
    select id, partner_id, url, events, active, ${change}, ${actor}, ${requestId}::uuid, ${reason},
           coalesce(${at}::timestamptz, clock_timestamp()), ${takesEffectAt}::timestamptz
    from webhooks where id = ${id}`;
}
