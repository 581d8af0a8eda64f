/** Who keeps the lanes where there are more pollers than keep any. */
import { expect, test } from 'vitest';
import { LEASE_ALONE } from '../../../src/delivery/poller/liveness.ts';
import { ACTIVE_POLLERS } from '../../../src/delivery/poller/poll-backoff.ts';
import { Poller } from '../../../src/delivery/poller/poller.ts';
import { DELIVERED } from '../../support/delivered.ts';
import { useEmptyDatabase } from '../../support/one-webhook.ts';
import { insertPartner, insertWebhook, openTestSecret } from '../../support/outbox.ts';
import { silentLog } from '../../support/silent-log.ts';

const { pool, sql } = await useEmptyDatabase();

const COUNT = 2 * ACTIVE_POLLERS;
const LANES = 40;
let nowMs = 0;

/** In the order of their ranks, which is that of their numbers. */
async function makePollers(): Promise<Poller[]> {
  await sql`delete from keepers`;
  await sql`truncate webhooks, lanes cascade`;
  const partnerId = await insertPartner(sql);
  for (let made = 0; made < LANES; made += 1) await insertWebhook(sql, partnerId, 'https://partner.example/');
  const ranked = await sql<{ name: string }[]>`
    select 'p' || n as name from generate_series(1, ${COUNT}::int) n order by poller_number('p' || n)`;
  return ranked.map(
    ({ name }, rank) =>
      new Poller({
        pool,
        name,
        capacity: 64,
        openSecret: openTestSecret,
        log: silentLog,
        monotonicMs: () => nowMs,
        sender: { send: () => Promise.resolve(DELIVERED) },
        sign: { ...LEASE_ALONE, term: () => Promise.resolve(1), rank: () => rank },
      }),
  );
}

/** The keepers of all lanes after each tick of `seconds`, in which each of `pollers` ticks once a second. */
async function keepersIn(seconds: number, pollers: readonly Poller[]): Promise<string[]> {
  const kept: string[] = [];
  for (let tick = 0; tick < seconds * pollers.length; tick += 1) {
    nowMs += 1_000 / pollers.length;
    await pollers[tick % pollers.length]?.tick();
    const rows = await sql<{ keeper: string | null }[]>`select keeper from lanes order by webhook_id`;
    kept.push(rows.map(({ keeper }) => keeper ?? '-').join(' '));
  }
  return kept;
}

const partsOf = (kept = ''): number[] => {
  const byKeeper = Map.groupBy(kept.split(' '), (keeper) => keeper);
  return [...byKeeper.values()].map((lanes) => lanes.length);
};

test('idle lanes stay with the first pollers, in equal parts, however many others there are', async () => {
  const pollers = await makePollers();
  await keepersIn(10, pollers);
  const kept = new Set(await keepersIn(10, pollers));
  expect(kept.size).toBe(1);
  expect(partsOf([...kept][0])).toEqual(Array.from({ length: ACTIVE_POLLERS }, () => LANES / ACTIVE_POLLERS));
});

test('pollers behind the first give them the lanes that they took, once they are idle', async () => {
  const pollers = await makePollers();
  const behind = pollers.slice(ACTIVE_POLLERS);
  await keepersIn(4, behind);
  const [before] = await keepersIn(1, behind);
  expect(before).not.toContain('-');
  await keepersIn(20, pollers);
  const [after] = (await keepersIn(1, pollers)).slice(-1);
  expect(partsOf(after)).toEqual(Array.from({ length: ACTIVE_POLLERS }, () => LANES / ACTIVE_POLLERS));
  const first = await sql`select name from keepers where lanes > 0 order by poller_number(name)`;
  const all = await sql`select name from keepers order by poller_number(name)`;
  expect(first).toEqual(all.slice(0, ACTIVE_POLLERS));
});
