/** The operator mutes, unmutes and caps a webhook, each time with a line of history: author and reason. */
import { NOT_FOUND, type Result } from '../contract/refusals.ts';
import type { Tx } from '../db/pool.ts';
import { muteLane, setCap, wakeLane } from '../delivery/queue/orders/lane.ts';
import { writeHistory } from './history.ts';

export interface Operator {
  readonly actor: string;
  readonly reason: string | null;
}

/** `webhookInactive`: its partner deactivated it, or is inactive; nothing is sent anyway. */
export async function muteWebhook(
  tx: Tx,
  id: string,
  operator: Operator,
): Promise<Result<true, 'notFound' | 'webhookMuted' | 'webhookInactive'>> {
  const webhook = await lockForOperator(tx, id);
  if (webhook === null) return NOT_FOUND;
  if (!webhook.active) return { refused: { kind: 'webhookInactive' } };
  if (!(await muteLane(tx, id))) return { refused: { kind: 'webhookMuted' } };
  await writeHistory(tx, id, 'silenciamento', operator);
  return { ok: true };
}

export async function unmuteWebhook(
  tx: Tx,
  id: string,
  operator: Operator,
): Promise<Result<true, 'notFound' | 'webhookNotMuted'>> {
  if ((await lockForOperator(tx, id)) === null) return NOT_FOUND;
  if (!(await wakeLane(tx, id))) return { refused: { kind: 'webhookNotMuted' } };
  await writeHistory(tx, id, 'fim_do_silenciamento', operator);
  return { ok: true };
}

/** The webhook of whatever partner, locked until the transaction ends; null when there is none of that id. */
export async function lockForOperator(tx: Tx, id: string): Promise<{ readonly active: boolean } | null> {
  const [row] = await tx<{ active: boolean }[]>`
    select w.active and p.active as active
    from webhooks w
    join partners p on p.id = w.partner_id
    where w.id = ${id}
    for no key update of w`;
  return row ?? null;
}

/** The line's reason begins with `de 64 para 3`. A cap that is the same already wakes the lane and leaves no line. */
export async function capWebhook(
  tx: Tx,
  id: string,
  cap: number,
  { actor, reason }: Operator,
): Promise<Result<true, 'notFound'>> {
  if ((await lockForOperator(tx, id)) === null) return NOT_FOUND;
  const before = await setCap(tx, id, cap);
  if (before === null) return NOT_FOUND;
  if (before === cap) return { ok: true };
  const change = `de ${before} para ${cap}`;
  await writeHistory(tx, id, 'limite', { actor, reason: reason === null ? change : `${change}: ${reason}` });
  return { ok: true };
}
