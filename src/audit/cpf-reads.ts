/**
 * Who read CPFs unmasked: a row for each request whose token may see CPFs, written when the answer is made and before any of it is
 * sent, and sealed in the next turn. It names the events that were shown, not their workers: whose they are is in `worker_events`
 * by keyed digest, and goes with the worker.
 */
import { masked } from '../contract/masking/masking.ts';
import type { Pool } from '../db/pool.ts';

export interface CpfRead {
  /** `sub` of the token. */
  readonly actor: string;
  /** Method and path as the interface names them: `GET /v1/auditoria/tentativas`. */
  readonly operation: string;
  /** The request: path and query. */
  readonly asked: string;
  readonly requestId: string;
  /** As {@link eventsIn} finds them. */
  readonly events: readonly string[] | null;
}

/** Characters of `asked` that are kept. */
const MAX_ASKED = 2_000;

export async function logCpfRead(pool: Pool, { actor, operation, asked, requestId, events }: CpfRead): Promise<void> {
  await pool.run(
    (sql) => sql`
      insert into cpf_reads (actor, operation, asked, request_id, events)
      values (${actor}, ${operation}, ${masked(asked).slice(0, MAX_ASKED)}, ${requestId}::uuid, ${events as string[] | null}::uuid[])`,
  );
}

interface Named {
  readonly evento_id?: unknown;
  readonly fluxo?: unknown;
  readonly id?: unknown;
}

/** The events that an answer's JSON names: those of a list's rows, or of one delivery. */
export function eventsIn(body: unknown): string[] {
  const named: Named & { readonly itens?: readonly Named[]; readonly entrega?: Named } = body ?? {};
  const rows = named.itens ?? [named.entrega ?? named];
  const ids = rows.map((row) => (row.fluxo === undefined ? row.evento_id : row.id));
  return [...new Set(ids.filter((id) => typeof id === 'string'))];
}
