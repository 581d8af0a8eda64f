/** What shortens a run's waits, with nothing but SQL that an operator could run. */
import type { Pool } from '../../src/db/pool.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { rescueOverdue } from '../../src/delivery/queue/rescuer.ts';
import { insist } from './world.ts';

/** After a while ends the leases of the poller process `pid`, which is dead or frozen, as time would. */
export async function lapseLeases(pool: Pool, pid: number, afterMs: number): Promise<void> {
  await sleep(afterMs);
  await insist(() =>
    pool.transaction(async (tx) => {
      await tx`update claims set at = now() - lease() where poller like ${`%-${pid}-%`} and at > now() - lease()`;
      await rescueOverdue(tx);
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
      pool.run((sql) => sql`select from flights() where poller like ${`%-${pid}-%`} limit 1`),
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
        where status = 'pendente' and failures > 0 and id not in (select delivery_id from flights())
          and next_attempt_at > now() + interval '2 seconds'
        order by id limit 2000 for update skip locked
      )
      update deliveries d set next_attempt_at = now() + random() * interval '2 seconds'
      from waiting where d.id = waiting.id
      returning d.id`;
    return rows.length;
  });
}
