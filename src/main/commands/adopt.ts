/** A copied database goes on from the server that it finds itself on. */
import type { ServerFault } from '../../db/known-server.ts';
import type { Pool, Tx } from '../../db/pool.ts';
import { endClaimsOfThePast } from '../../delivery/queue/lost.ts';
import { command } from '../command.ts';
import { withJobPool } from '../job-pool.ts';

export const adopt = command({
  summary: 'go on from a copy: make the server on which the database finds itself the known one',
  help: `
A database that was restored or copied to another server, or whose transactions went back, waits: /readyz is 503, and nothing
is appended, delivered or sealed, because a copy made for a test must not POST to partners. This command says that it is to
go on from here. First stop whatever still works on the server before. It begins a new epoch, above everything there is;
ends the claims of the past as desconhecido, so that they are sent again; and tells what it cannot know. A promoted standby
needs none of this: it goes on by itself. Needs the rights of migrate.

Output: {"adopted": true, "fault": "copy", "epoch": 2, "endedClaims": 3, "pending": 17, "newestEventAt": "2026-…",
"newestAttemptAt": "2026-…"}; adopted is false when there is nothing to adopt.`,
  exits: {
    done: 'it goes on from here, or there was nothing to adopt',
    refused: 'it could not be done; nothing has changed',
  },
  async run(_, line) {
    const { summary, told } = await withJobPool(
      line,
      (pool, { config }) => adoptServer(pool, `${config.databaseRolePrefix}_owner`),
      { onStrange: 'accept', needs: 'owner' },
    );
    line.print(JSON.stringify(summary));
    process.stderr.write(`${told}\n`);
  },
});

interface Adoption {
  readonly summary: {
    readonly adopted: boolean;
    readonly fault: ServerFault | null;
    readonly epoch: number;
    /** Claims of the server before, ended as `desconhecido`. */
    readonly endedClaims: number;
    readonly pending: number;
    readonly newestEventAt: Date | null;
    readonly newestAttemptAt: Date | null;
  };
  /** What a person should read. */
  readonly told: string;
}

/** One transaction: all of it or nothing. `owner` is the role that owns the tables. */
export async function adoptServer(pool: Pool, owner: string): Promise<Adoption> {
  return pool.transaction(async (tx) => {
    await tx`set local role ${tx(owner)}`;
    // Before anything is written: what this ends gets attempt rows of its own.
    const last = await readLast(tx);
    const [{ fault, epoch }] = await tx<[{ fault: ServerFault | null; epoch: number }]>`
      select fault, epoch from adopt_server()`;
    const endedClaims = fault === null ? 0 : await endClaimsOfThePast(tx);
    const [{ pending }] = await tx<[{ pending: number }]>`
      select count(*)::float8 as pending from deliveries where status = 'pendente'`;
    const summary = { adopted: fault !== null, fault, epoch, endedClaims, pending, ...last };
    return { summary, told: textOf(summary) };
  });
}

async function readLast(tx: Tx): Promise<Pick<Adoption['summary'], 'newestEventAt' | 'newestAttemptAt'>> {
  const [row] = await tx<[{ newestEventAt: Date | null; newestAttemptAt: Date | null }]>`
    select (select occurred_at from events order by id desc limit 1) as "newestEventAt",
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
