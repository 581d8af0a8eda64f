/** Whoever delivers: the engine or a peer, each as one process of its own on a database of its own. */
import type { Sql } from '../../src/db/pool.ts';
import { type Child, startChild } from './harness/child.ts';
import type { Server } from './harness/server.ts';

type Running = Awaited<ReturnType<typeof startPeer>>;

export interface Contender {
  readonly id: string;
  readonly label: string;
  /** Creates `database` with `count` due deliveries over the first `webhooks` webhooks. */
  seed(server: Server, database: string, receiverUrl: string, count: number, webhooks: number): Promise<void>;
  start(databaseUrl: string, receiverUrl: string): Promise<Running>;
  /** How many deliveries are done, each with its attempt row. */
  done(sql: Sql): Promise<number>;
}

export interface PeerArguments {
  readonly databaseUrl: string;
  readonly receiverUrl: string;
  readonly settings: Readonly<Record<string, number>>;
}

/** Starts the peer `role` in a process of its own; its settings may be tried out with `BENCH_<ROLE>` as JSON. */
export async function startPeer(
  role: string,
  databaseUrl: string,
  receiverUrl: string,
  settings: Readonly<Record<string, number>>,
) {
  const tried = JSON.parse(process.env[`BENCH_${role.toUpperCase()}`] ?? '{}') as Record<string, number>;
  const argument: PeerArguments = { databaseUrl, receiverUrl, settings: { ...settings, ...tried } };
  const child: Child = await startChild(role, argument);
  return {
    pid: child.pid,
    /** Begins to deliver, if it has not begun by itself. */
    go: () => child.ask('go'),
    /** Ends it when what is in flight is done. */
    async stop() {
      await child.ask('stop');
      await child.end();
    },
  };
}
