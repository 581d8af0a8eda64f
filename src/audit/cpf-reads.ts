/**
 * Who read CPFs unmasked: a row for each request whose token may see CPFs, written before the answer, and sealed in the next
 * turn.
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
}

/** Characters of `asked` that are kept. */
const MAX_ASKED = 2_000;

export async function logCpfRead(pool: Pool, { actor, operation, asked, requestId }: CpfRead): Promise<void> {
  await pool.run(
    (sql) => sql`
      insert into cpf_reads (actor, operation, asked, request_id)
      values (${actor}, ${operation}, ${masked(asked).slice(0, MAX_ASKED)}, ${requestId}::uuid)`,
  );
}
