/** Where the rotation of a webhook's secret stands, by the clock that claims go by. */
import type { SecretState } from '../contract/resources/webhook.ts';
import type { Pool, Tx } from '../db/pool.ts';

interface Secrets {
  readonly now: Date;
  /** From when the new secret signs; null when none waits. */
  readonly waitsUntil: Date | null;
  /** Until when the one before signs beside the new one; null when it signs alone, or no longer. */
  readonly previousSignsUntil: Date | null;
}

/** Null when the partner has no webhook of that id. */
export async function readSecrets(
  tx: Tx,
  { partnerId, id }: { readonly partnerId: string; readonly id: string },
): Promise<Secrets | null> {
  const [row] = await tx<Secrets[]>`
    select now, case when waits then signs_from end as "waitsUntil",
           case when not waits and previous_until > now then previous_until end as "previousSignsUntil"
    from (
      select clock.now, signs_from, previous_until, coalesce(signs_from > clock.now, false) as waits
      from webhooks, (select clock_timestamp() as now) clock
      where id = ${id} and partner_id = ${partnerId}
    ) secrets`;
  return row ?? null;
}

/** As its partner may know it; null when the partner has no webhook of that id. */
export async function readSecretState(pool: Pool, partnerId: string, id: string): Promise<SecretState | null> {
  const secrets = await pool.run((sql) => readSecrets(sql, { partnerId, id }));
  if (secrets === null) return null;
  const { waitsUntil, previousSignsUntil } = secrets;
  return { id, vale_em: waitsUntil?.toISOString() ?? null, anterior_ate: previousSignsUntil?.toISOString() ?? null };
}
