/** Where a rotation stands, as its partner may know it: times, and never a secret. */
import type { Pool } from '../db/pool.ts';

export interface SecretState {
  /** A new secret waits, and signs from then on; null when none waits. */
  readonly waitsUntil: Date | null;
  /** The secret before the newest signs beside it until then; null when the newest signs alone. */
  readonly previousUntil: Date | null;
}

/** By the clock that claims go by; null when the partner has no webhook of that id. */
export async function readSecretState(pool: Pool, partnerId: string, id: string): Promise<SecretState | null> {
  const [row] = await pool.run(
    (sql) => sql<SecretState[]>`
      select case when signs_from > clock.now then signs_from end as "waitsUntil",
             case when coalesce(signs_from <= clock.now, true) and previous_until > clock.now then previous_until end
               as "previousUntil"
      from webhooks, (select clock_timestamp() as now) clock
      where id = ${id} and partner_id = ${partnerId}`,
  );
  return row ?? null;
}
