/**
 * Changes of a webhook: its URL, its events, whether it is active; and its options.
 *
 * Invariant: every change commits with its line of history, and a partner never has more than {@link MAX_ACTIVE_WEBHOOKS} active
 * webhooks: a change that activates one locks the partner's row first, as the creation does. Appends lock neither row. A change to
 * the same values leaves no line.
 */
import type { SubscribableName } from '../contract/events.ts';
import { NOT_FOUND, type Result } from '../contract/refusals.ts';
import type { DeliveryOrder, WebhookChange } from '../contract/statuses.ts';
import { MAX_ACTIVE_WEBHOOKS, type WebhookResource } from '../contract/resources/webhook.ts';
import type { Pool, Tx } from '../db/pool.ts';
import { lockPartner } from '../db/partner-lock.ts';
import { setInOrder } from '../delivery/queue/orders/lane.ts';
import { lockWebhook, type Subject, type WebhookRow, writeHistory } from './history.ts';
import { viewWebhook } from './webhooks.ts';

export interface Wanted {
  /** The normalised URL that the target check accepted. */
  readonly url?: string | undefined;
  readonly events?: readonly SubscribableName[] | undefined;
  readonly active?: boolean | undefined;
}

export async function changeWebhook(
  tx: Tx,
  subject: Subject,
  wanted: Wanted,
): Promise<Result<WebhookResource, 'notFound' | 'webhookLimit'>> {
  const { partnerId, id } = subject;
  if (wanted.active === true) await lockPartner(tx, partnerId);
  const before = await lockWebhook(tx, subject);
  if (before === null) return NOT_FOUND;
  const after = {
    ...before,
    url: wanted.url ?? before.url,
    events: [...(wanted.events ?? before.events)],
    active: wanted.active ?? before.active,
  };
  if (after.active && !before.active && (await countActive(tx, partnerId)) >= MAX_ACTIVE_WEBHOOKS) {
    return { refused: { kind: 'webhookLimit' } };
  }
  const change = changeOf(before, after);
  if (change !== null) {
    await tx`
      update webhooks
      set url = ${after.url}, events = ${after.events}, active = ${after.active},
          refusals = case when url = ${after.url} then refusals else 0 end,
          quiet_until = case when url = ${after.url} then quiet_until end
      where id = ${id}`;
    await writeHistory(tx, id, change, subject);
  }
  return { ok: viewWebhook(after) };
}

async function countActive(tx: Tx, partnerId: string): Promise<number> {
  const [row] = await tx<[{ active: number }]>`
    select count(*)::int as active from webhooks where partner_id = ${partnerId} and active`;
  return row.active;
}

function changeOf(before: WebhookRow, after: WebhookRow): WebhookChange | null {
  if (before.active !== after.active) return after.active ? 'reativacao' : 'desativacao';
  const isSame = before.url === after.url && before.events.join() === after.events.join();
  return isSame ? null : 'alteracao';
}

export interface Options {
  readonly order: DeliveryOrder;
  readonly label: string | null;
}

/** Null when the partner has no webhook of that id. */
export async function readOptions(pool: Pool, partnerId: string, id: string): Promise<Options | null> {
  const [row] = await pool.run(
    (sql) => sql<{ inOrder: boolean; label: string | null }[]>`
      select l.in_order as "inOrder", w.label from lanes l join webhooks w on w.id = l.webhook_id
      where l.webhook_id = ${id} and l.partner_id = ${partnerId}`,
  );
  return row === undefined ? null : { order: row.inOrder ? 'por_emprestimo' : 'nenhuma', label: row.label };
}

/** Sets those options of a webhook that are given, active or not; an order that is set already leaves no trace, nor does a label. */
export async function setOptions(
  tx: Tx,
  subject: Subject,
  { order, label }: { readonly order: DeliveryOrder | undefined; readonly label: string | null | undefined },
): Promise<Result<'set', 'notFound'>> {
  if ((await lockWebhook(tx, subject)) === null) return NOT_FOUND;
  const isChanged = order !== undefined && (await setInOrder(tx, subject.id, order === 'por_emprestimo'));
  if (isChanged) await writeHistory(tx, subject.id, `ordem_${order}`, subject);
  if (label !== undefined) await tx`update webhooks set label = ${label} where id = ${subject.id}`;
  return { ok: 'set' };
}
