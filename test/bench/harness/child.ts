/**
 * Helpers of the benchmark that run as operating-system processes of their own: the receiver and the peers. A child
 * offers calls by name; the parent asks, and the answer comes back over Node's IPC channel.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

const MAIN = path.resolve(import.meta.dirname, '../main.ts');
const CALL_TIMEOUT_MS = 600_000;

type Calls = Record<string, (argument: never) => unknown>;
type Question = { readonly id: number; readonly call: string; readonly argument: unknown };
type Reply = { readonly id: number; readonly value?: unknown; readonly error?: string };

export type Child = Awaited<ReturnType<typeof startChild>>;

const living = new Set<ChildProcess>();

/** Kills whatever is still running; for the way out of a run that failed. */
export function killChildren(): void {
  for (const child of living) child.kill('SIGKILL');
}

/** Starts the child `role` (see ../children.ts) and waits until it offers its calls. */
export async function startChild(role: string, argument: unknown = null) {
  const child = fork(MAIN, ['child', role, JSON.stringify(argument)], {
    serialization: 'advanced',
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  living.add(child);
  const open = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>();
  let questions = 0;
  const exited = once(child, 'exit').then(() => {
    living.delete(child);
    for (const { reject } of open.values()) reject(new Error(`the process ${role} left`));
  });
  child.on('message', (message: Reply | 'ready') => {
    if (message === 'ready') return;
    const waiting = open.get(message.id);
    open.delete(message.id);
    if (message.error === undefined) waiting?.resolve(message.value);
    else waiting?.reject(new Error(`${role}: ${message.error}`));
  });
  await Promise.race([
    once(child, 'message'),
    exited.then(() => {
      throw new Error(`the process ${role} did not start`);
    }),
  ]);
  if (child.pid === undefined) throw new Error(`the process ${role} has no id`);
  return {
    pid: child.pid,
    /** Calls the child; throws what it threw, and when it dies. */
    async ask<T>(call: string, value: unknown = null): Promise<T> {
      const id = (questions += 1);
      const { promise, resolve, reject } = Promise.withResolvers<unknown>();
      open.set(id, { resolve, reject });
      const timer = setTimeout(() => reject(new Error(`${role} did not answer ${call}`)), CALL_TIMEOUT_MS);
      child.send({ id, call, argument: value } satisfies Question);
      try {
        return (await promise) as T;
      } finally {
        clearTimeout(timer);
      }
    },
    /** Ends the process. */
    async end() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

/** In the child: offers `calls` to the parent, and leaves when the parent is gone. */
export function offerCalls(calls: Calls): void {
  process.on('disconnect', () => process.exit(1));
  process.on('message', ({ id, call, argument }: Question) => {
    const answer = async (): Promise<Reply> => {
      const work = calls[call];
      if (!work) return { id, error: `no call ${call}` };
      try {
        return { id, value: await work(argument as never) };
      } catch (error) {
        return { id, error: (error as Error).stack ?? String(error) };
      }
    };
    void answer().then((reply) => process.send?.(reply));
  });
  process.send?.('ready');
}
