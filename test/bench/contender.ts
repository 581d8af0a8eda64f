/** Whoever delivers: the engine or a peer, each as one process of its own on a database of its own. */
import type { Sql } from '../../src/db/pool.ts';
import { startChild } from './harness/child.ts';
import type { Server } from './harness/server.ts';
import type { BareSettings } from './peers/bare-process.ts';
import type { GraphileSettings } from './peers/graphile-process.ts';
import type { LoopSettings } from './peers/loop-process.ts';
import type { PgBossSettings } from './peers/pgboss-process.ts';

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

export interface PeerArguments<Settings> {
  readonly databaseUrl: string;
  readonly receiverUrl: string;
  readonly settings: Settings;
}

/** The settings of each, by the peer's role. */
interface Peers {
  readonly bare: BareSettings;
  readonly graphile: GraphileSettings;
  readonly loop: LoopSettings;
  readonly pgboss: PgBossSettings;
}

/** `go` begins to deliver; `stop` resolves when what is in flight is done. */
type PeerCalls = Readonly<Record<'go' | 'stop', () => unknown>>;

/** Starts the peer `role` in a process of its own. */
export async function startPeer<Role extends keyof Peers>(
  role: Role,
  databaseUrl: string,
  receiverUrl: string,
  settings: Peers[Role],
) {
  const argument: PeerArguments<Peers[Role]> = { databaseUrl, receiverUrl, settings };
  const { pid, go, stop, end } = await startChild<PeerCalls>(role, argument);
  return {
    pid,
    go: async () => void (await go()),
    async stop() {
      await stop();
      await end();
    },
  };
}
