/** The operator's cap on a webhook, with its line of history: author, the cap before and after, and the reason. */
import { NOT_FOUND, type Result } from '../contract/refusals.ts';
import type { Tx } from '../db/pool.ts';
import { setCap } from '../delivery/queue/orders/cap.ts';
import { lockForOperator, type Operator, writeOperatorLine } from './muting.ts';

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
  await writeOperatorLine(tx, id, 'limite', { actor, reason: reason === null ? change : `${change}: ${reason}` });
  return { ok: true };
}
