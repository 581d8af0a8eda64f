/** One transaction on one connection: its statements, and the commit that may travel with them. */
import type { Tx } from './pool.ts';

/** A statement that can be sent before anybody waits for it. */
export interface Sendable {
  execute(): Promise<unknown>;
}

const leftToCommit = new WeakMap<Tx, Promise<unknown>[]>();

/**
 * Lets statements that `work` has begun on `tx` travel with its commit: the transaction fails as the first of them that
 * fails. Their results may be awaited when it is over.
 */
export function leaveToCommit(tx: Tx, ...statements: readonly Promise<unknown>[]): void {
  for (const statement of statements) statement.catch(() => undefined);
  leftToCommit.set(tx, [...(leftToCommit.get(tx) ?? []), ...statements]);
}

/**
 * Sends `before`, then runs `work` between a begin and a commit. When it throws, the transaction is still open, or was
 * never begun.
 */
export async function transact<T>(
  tx: Tx,
  work: (tx: Tx) => Promise<T>,
  before: (tx: Tx) => readonly Sendable[],
): Promise<T> {
  const ahead = before(tx).map((statement) => statement.execute());
  for (const statement of ahead) statement.catch(() => undefined);
  // Not waited for: the first statement of the work travels right behind it. Executed, as what goes ahead of it is: the
  // driver sends a query when it is awaited, and so those that are awaited through more promises later than others.
  const begun = tx`begin`.execute();
  begun.catch(() => undefined);
  const result = await work(tx);
  const { command } = await tx`commit`;
  await Promise.all([begun, ...ahead, ...(leftToCommit.get(tx) ?? [])]);
  if (command !== 'COMMIT') throw new Error('a statement of the transaction had failed: it was rolled back');
  return result;
}
