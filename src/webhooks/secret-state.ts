/** Where a rotation stands, as its partner may know it. */
import type { SecretState } from '../contract/resources/webhook.ts';
import type { Pool } from '../db/pool.ts';

/** By the clock that claims go by; null when the partner has no webhook of that id. */
export async function readSecretState(pool: Pool, partnerId: string, id: string): Promise<SecretState | null> {
  const [row] = await pool.run(
    (sql) => sql<{ waitsUntil: Date | null; previousUntil: Date | null }[]>`
      select case when signs_from > clock.now then signs_from end as "waitsUntil",
             case when coalesce(signs_from <= clock.now, true) and previous_until > clock.now then previous_until end
               as "previousUntil"
      from webhooks, (select clock_timestamp() as now) clock
      where id = ${id} and partner_id = ${partnerId}`,
  );
  if (row === undefined) return null;
  const { waitsUntil, previousUntil } = row;
  return { id, vale_em: waitsUntil?.toISOString() ?? null, anterior_ate: previousUntil?.toISOString() ?? null };
}
