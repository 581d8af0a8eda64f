/** What shortens a run's waits, with nothing but SQL that an operator could run. */
import type { Pool } from '../../src/db/pool.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { insist } from './world.ts';

/** After a while ends the leases of the poller process `pid`, which is dead or frozen, as time would. */
export async function lapseLeases(pool: Pool, pid: number, afterMs: number): Promise<void> {
  await sleep(afterMs);
  await insist(() =>
    pool.transaction(async (tx) => {
      const rows = await tx<{ webhookId: string }[]>`
        with held as materialized (
          select id from deliveries
          where claimed_by like ${`%-${pid}-%`} and claimed_at > now() - lease()
          order by id for update
        )
        update deliveries d set claimed_at = now() - lease() from held where d.id = held.id
        returning d.webhook_id as "webhookId"`;
      const webhookIds = [...new Set(rows.map((row) => row.webhookId))];
      await tx`
        with asleep as materialized (
          select webhook_id from lanes where webhook_id = any (${webhookIds}::uuid[]) order by webhook_id for update
        )
        update lanes l set saturated = false, next_due_at = now()
        from asleep where l.webhook_id = asleep.webhook_id`;
    }),
  );
}

const HOLDS_WITHIN_MS = 2_000;

/**
 * Stops the process `pid` (SIGSTOP) at a moment at which it holds a claim, or after two seconds at any: deliveries may be over. What
 * kills it then costs an attempt its record, however fast the machine is.
 */
export async function freezeWhileHolding(pool: Pool, pid: number): Promise<void> {
  const untilMs = performance.now() + HOLDS_WITHIN_MS;
  for (;;) {
    process.kill(pid, 'SIGSTOP');
    const held = await insist(() =>
      pool.run((sql) => sql`select from deliveries where claimed_by like ${`%-${pid}-%`} limit 1`),
    );
    if (held.length > 0 || performance.now() > untilMs) return;
    process.kill(pid, 'SIGCONT');
    await sleep(5);
  }
}

/** Brings waiting retries forward to within two seconds, as the sandbox's clock does. Returns how many. */
export async function hurryRetries(pool: Pool): Promise<number> {
  return pool.transaction(async (tx) => {
    const rows = await tx`
      with waiting as materialized (
        select id from deliveries
        where status = 'pendente' and claimed_by is null and failures > 0
          and next_attempt_at > now() + interval '2 seconds'
        order by id limit 2000 for update skip locked
      ),
      hurried as (
        update deliveries d set next_attempt_at = now() + random() * interval '2 seconds'
        from waiting where d.id = waiting.id
        returning d.webhook_id, d.partner_id
      ),
      woken as (
        insert into arrivals (webhook_id, partner_id, kind, due_at)
        select distinct webhook_id, partner_id, 'due'::arrival_kind, now() from hurried
      )
      select from hurried`;
    return rows.length;
  });
}
