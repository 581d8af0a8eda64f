/**
 * Helpers of the benchmark that run as operating-system processes of their own: the receiver and the peers. A child
 * offers calls by name; the parent asks, and the answer comes back over Node's IPC channel.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

const MAIN = path.resolve(import.meta.dirname, '../main.ts');
const CALL_TIMEOUT_MS = 600_000;

type Calls = Readonly<Record<string, (argument: never) => unknown>>;
/** A child's calls as its parent makes them. */
type Asked<C extends Calls> = {
  readonly [Call in keyof C]: (...given: Parameters<C[Call]>) => Promise<Awaited<ReturnType<C[Call]>>>;
};
type Question = { readonly id: number; readonly call: string; readonly argument: unknown };
type Reply = { readonly id: number; readonly value?: unknown; readonly error?: string };

const living = new Set<ChildProcess>();

/** Kills whatever is still running; for the way out of a run that failed. */
export function killChildren(): void {
  for (const child of living) child.kill('SIGKILL');
}

/** Starts the child `role` (see ../children.ts) and waits until it offers its calls. A call throws what it threw there, and when the child dies. */
export async function startChild<C extends Calls>(role: string, argument: unknown = null) {
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
  child.on('message', (message: Reply | readonly string[]) => {
    if (!('id' in message)) return;
    const waiting = open.get(message.id);
    open.delete(message.id);
    if (message.error === undefined) waiting?.resolve(message.value);
    else waiting?.reject(new Error(`${role}: ${message.error}`));
  });
  const [names] = await Promise.race([
    once(child, 'message') as Promise<[readonly string[]]>,
    exited.then((): never => {
      throw new Error(`the process ${role} did not start`);
    }),
  ]);
  if (child.pid === undefined) throw new Error(`the process ${role} has no id`);
  async function ask(call: string, argument: unknown): Promise<unknown> {
    const id = (questions += 1);
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    open.set(id, { resolve, reject });
    const timer = setTimeout(() => reject(new Error(`${role} did not answer ${call}`)), CALL_TIMEOUT_MS);
    child.send({ id, call, argument } satisfies Question);
    return promise.finally(() => clearTimeout(timer));
  }
  const calls = Object.fromEntries(names.map((name) => [name, (argument?: unknown) => ask(name, argument)]));
  return {
    ...(calls as unknown as Asked<C>),
    pid: child.pid,
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
  process.send?.(Object.keys(calls));
}
