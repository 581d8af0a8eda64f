/**
 * Who read CPFs unmasked: a sealed row for each request of a token that may see them, written before any of the answer is sent. It
 * names the events shown, not their workers: those are in `worker_events` by keyed digest, and leave with the worker.
 */
import { masked } from '../contract/masking/masking.ts';
import type { Pool } from '../db/pool.ts';

export interface CpfRead {
  /** `sub` of the token. */
  readonly actor: string;
  readonly operation: string;
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
