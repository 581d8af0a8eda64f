import type { Tx } from './sql.ts';
import { isLoss } from './unavailable.ts';

const leftToCommit = new WeakMap<Tx, Promise<unknown>[]>();

/**
 * Sends statements that `work` has begun together with the commit: the transaction fails as the first of them that fails. Their results may
 * be awaited afterwards.
 */
export function leaveToCommit(tx: Tx, ...statements: readonly Promise<unknown>[]): void {
  for (const statement of statements) statement.catch(() => undefined);
  leftToCommit.set(tx, [...(leftToCommit.get(tx) ?? []), ...statements]);
}

/**
 * Runs `work` between begin and commit; a refusal (contract/refusals.ts) and a throw are rolled back, unless the connection is lost: writing
 * to a closed socket would end the process. `onStuck` is called for a connection that cannot roll back.
 */
export async function transactOrUndo<T>(
  tx: Tx,
  work: (tx: Tx) => Promise<T>,
  onStuck: () => void = () => undefined,
): Promise<T> {
  // `.execute()` sends it now, and the work's first statement follows at once. Left to `await`, postgres.js would send each query when its
  // promise chain is first awaited, and so out of order.
  const begun = tx`begin`.execute();
  begun.catch(() => undefined);
  try {
    const result = await work(tx);
    if (typeof result === 'object' && result !== null && 'refused' in result) {
      await tx`rollback`;
      await begun;
      return result;
    }
    const { command } = await tx`commit`;
    await Promise.all([begun, ...(leftToCommit.get(tx) ?? [])]);
    if (command !== 'COMMIT') throw new Error('a statement of the transaction had failed: it was rolled back');
    return result;
  } catch (error) {
    if (!isLoss(error)) await tx`rollback`.catch(onStuck);
    throw error;
  }
}

/** Returns what `work` does; a throw undoes only its own effects. */
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
