/** The command `adopt`: a copied database goes on from the server that it finds itself on. */
import type { Config } from '../config.ts';
import type { ServerFault } from '../db/known-server.ts';
import type { Pool, Tx } from '../db/pool.ts';
import { endClaimsOfThePast } from '../delivery/lost.ts';
import type { Logger } from '../log-lines.ts';
import { withJobPool } from './job-pool.ts';

export interface Adoption {
  readonly summary: {
    readonly adopted: boolean;
    readonly fault: ServerFault | null;
    readonly epoch: number;
    /** Claims of the server before, ended as `desconhecido`. */
    readonly endedClaims: number;
    /** Deliveries that will be sent. */
    readonly pending: number;
    readonly newestEventAt: Date | null;
    readonly newestAttemptAt: Date | null;
  };
  /** What a person should read. */
  readonly told: string;
}

export async function adopt(config: Config, log: Logger): Promise<Adoption> {
  const owner = `${config.databaseRolePrefix}_owner`;
  return withJobPool(config, log, (pool) => adoptServer(pool, owner), 'accept');
}

/** One transaction: all of it or nothing. `owner` is the role that owns the tables. */
export async function adoptServer(pool: Pool, owner: string): Promise<Adoption> {
  return pool.transaction(async (tx) => {
    await tx`set local role ${tx(owner)}`;
    const [{ fault, epoch }] = await tx<[{ fault: ServerFault | null; epoch: number }]>`
      select fault, epoch from adopt_server()`;
    const endedClaims = fault === null ? 0 : await endClaimsOfThePast(tx);
    const found = await readLast(tx);
    const summary = { adopted: fault !== null, fault, epoch, endedClaims, ...found };
    return { summary, told: textOf(summary) };
  });
}

async function readLast(tx: Tx): Promise<Pick<Adoption['summary'], 'pending' | 'newestEventAt' | 'newestAttemptAt'>> {
  const [row] = await tx<[{ pending: number; newestEventAt: Date | null; newestAttemptAt: Date | null }]>`
    select (select count(*)::float8 from deliveries where status = 'pendente') as pending,
           (select occurred_at from events order by id desc limit 1) as "newestEventAt",
           (select max(recorded_at) from attempts) as "newestAttemptAt"`;
  return row;
}

function textOf({ adopted, epoch, endedClaims, pending, newestEventAt, newestAttemptAt }: Adoption['summary']): string {
  if (!adopted) return `Nothing to adopt: the database knows this server. It is in epoch ${epoch}.`;
  const at = (moment: Date | null) => moment?.toISOString() ?? 'none';
  return `The database goes on from this server, in epoch ${epoch}.
${endedClaims} claims of the server before were ended as desconhecido: whether their POSTs left is not known.
${pending} deliveries are pending and will be sent, some perhaps for the second time, under the same X-Webhook-Delivery.
The newest event here is of ${at(newestEventAt)}, the newest attempt of ${at(newestAttemptAt)}. What the server before did
after that is not in this database: its events do not exist here, and deliveries that left after it look as if they had not.
Partners that were shown such events get 409 CURSOR_ADIANTE from GET /v1/eventos, with the cursor to go on from. Compare the
loans that changed after that moment with your other systems, and tell those partners.`;
}
