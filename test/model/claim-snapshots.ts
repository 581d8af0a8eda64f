/** Claims that are under way while something else commits: another claim on their lane, or their partner's deactivation. */
import type { Sql } from '../../src/db/pool.ts';
import { armLanes } from '../support/arm-lanes.ts';
import { claimDue } from '../support/claim-due.ts';

const GATE = 7;
const CAP = 8;
const TAKEN_BEFORE = 3;

/** Who reads lanes as a poller waits for as long as somebody holds the gate: its snapshot is older than its locks. */
async function makeGate(sql: Sql): Promise<void> {
  await sql.unsafe(`
    create function pass_gate() returns boolean language plpgsql as $$
    begin
      perform pg_advisory_xact_lock_shared(${GATE});
      return true;
    end $$;
    create policy gate on lanes using (pass_gate());
    alter table lanes enable row level security`);
}

async function untilSomebodyWaits(sql: Sql): Promise<void> {
  await sql.unsafe(`
    do $$ begin
      while not exists (
        select from pg_locks l join pg_database d on d.oid = l.database
        where d.datname = current_database() and l.locktype = 'advisory' and l.objid = ${GATE} and not l.granted
      ) loop
        perform pg_sleep(0.001);
      end loop;
    end $$`);
}

/** Throws unless both claims together fill the cap of the webhook, and no more. */
export async function claimBehindClaim(sql: Sql, append: () => Promise<unknown>): Promise<void> {
  for (let event = 0; event < CAP + TAKEN_BEFORE; event += 1) await append();
  const now = new Date(Date.now() + 1_000);
  await armLanes(sql, now);
  await makeGate(sql);
  const keeper = await sql.reserve();
  const own = await sql.reserve();
  try {
    await keeper`select pg_advisory_lock(${GATE})`;
    await own`begin`;
    await own`set local role carteiro_poller`;
    const claiming = claimDue(own, 'own/1', CAP, now);
    await untilSomebodyWaits(sql);
    await sql.begin((tx) => claimDue(tx, 'other/1', TAKEN_BEFORE, now));
    await keeper`select pg_advisory_unlock(${GATE})`;
    const { deliveries } = await claiming;
    await own`commit`;
    const flying = TAKEN_BEFORE + deliveries.length;
    if (flying !== CAP) throw new Error(`${flying} in flight after two claims in a row, the cap is ${CAP}`);
  } finally {
    keeper.release();
    own.release();
  }
}

/** Throws when a partner can be deactivated while a claim on its lane is yet to commit. */
export async function deactivateBesideClaim(sql: Sql, append: () => Promise<unknown>): Promise<void> {
  for (let event = 0; event <= CAP; event += 1) await append();
  const now = new Date(Date.now() + 1_000);
  await armLanes(sql, now);
  await sql.begin(async (claiming) => {
    await claimDue(claiming, 'p/1', CAP, now);
    const refusal = await sql
      .begin(async (tx) => {
        await tx`set local lock_timeout = '200ms'`;
        await tx`update partners set active = false`;
      })
      .then(
        () => null,
        (error: { code: string }) => error.code,
      );
    if (refusal !== '55P03') throw new Error('a claim may commit after the deactivation of its partner');
  });
}
