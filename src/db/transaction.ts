/** One transaction on one connection: its statements, and the commit that may travel with them. */
import type { Tx } from './sql.ts';
import { isLoss } from './unavailable.ts';

const leftToCommit = new WeakMap<Tx, Promise<unknown>[]>();

/**
 * Lets statements that `work` has begun on `tx` travel with its commit: the transaction fails as the first of them that
 * fails. Their results may be awaited when it is over.
 */
export function leaveToCommit(tx: Tx, ...statements: readonly Promise<unknown>[]): void {
  for (const statement of statements) statement.catch(() => undefined);
  leftToCommit.set(tx, [...(leftToCommit.get(tx) ?? []), ...statements]);
}

/** True for what a use case refused (contract/refusals.ts). */
function isRefused(result: unknown): boolean {
  return typeof result === 'object' && result !== null && 'refused' in result;
}

/**
 * Runs `work` between a begin and a commit; what ends refused is rolled back instead. When it throws, the transaction is still
 * open, or was never begun.
 */
async function transact<T>(tx: Tx, work: (tx: Tx) => Promise<T>): Promise<T> {
  // `.execute()` sends it now, and the first statement of the work travels right behind it. Left to `await`, postgres.js would
  // send each query when its promise chain is first awaited, and so out of order.
  const begun = tx`begin`.execute();
  begun.catch(() => undefined);
  const result = await work(tx);
  if (isRefused(result)) {
    await tx`rollback`;
    await begun;
    return result;
  }
  const { command } = await tx`commit`;
  await Promise.all([begun, ...(leftToCommit.get(tx) ?? [])]);
  if (command !== 'COMMIT') throw new Error('a statement of the transaction had failed: it was rolled back');
  return result;
}

/**
 * As {@link transact}, and rolls back when it throws, unless the connection is lost: the driver would write to a socket that is
 * gone, which ends the process. `onStuck` hears of a connection that cannot roll back.
 */
export async function transactOrUndo<T>(
  tx: Tx,
  work: (tx: Tx) => Promise<T>,
  onStuck: () => void = () => undefined,
): Promise<T> {
  try {
    return await transact(tx, work);
  } catch (error) {
    if (!isLoss(error)) await tx`rollback`.catch(onStuck);
    throw error;
  }
}

/** What `work` returns; what it throws undoes what it did, and nothing before it. */
export async function inSavepoint<T>(tx: Tx, work: () => Promise<T>): Promise<T> {
  await tx`savepoint piece`;
  try {
    const result = await work();
    await tx`release savepoint piece`;
    return result;
  } catch (error) {
    if (!isLoss(error)) await tx`rollback to savepoint piece`;
    throw error;
  }
}
