/** Who keeps the lanes where there are more pollers than keep any. */
import { expect, test } from 'vitest';
import { LEASE_ALONE } from '../../../src/delivery/poller/liveness.ts';
import { Poller } from '../../../src/delivery/poller/poller.ts';
import { ACTIVE_POLLERS } from '../../../src/delivery/poller/poll-backoff.ts';
import { DELIVERED } from '../../support/delivered.ts';
import { useEmptyDatabase } from '../../support/one-webhook.ts';
import { insertPartner, insertWebhook, openTestSecret } from '../../support/outbox.ts';
import { silentLog } from '../../support/silent-log.ts';

const { pool, sql } = await useEmptyDatabase();

test('idle lanes stay with the first pollers, in equal parts, however many others there are', async () => {
  const partnerId = await insertPartner(sql);
  for (let count = 0; count < 40; count += 1) await insertWebhook(sql, partnerId, 'https://partner.example/');
  let nowMs = 0;
  const pollers = Array.from(
    { length: 2 * ACTIVE_POLLERS },
    (_, rank) =>
      new Poller({
        pool,
        name: `p${rank}`,
        capacity: 64,
        openSecret: openTestSecret,
        log: silentLog,
        monotonicMs: () => nowMs,
        sender: { send: () => Promise.resolve(DELIVERED) },
        sign: { ...LEASE_ALONE, term: () => Promise.resolve(1), rank: () => rank },
      }),
  );
  const kept: string[] = [];
  for (let second = 0; second < 20; second += 1) {
    for (const poller of pollers) {
      nowMs += 1_000 / pollers.length;
      await poller.tick();
      const rows = await sql<{ keeper: string | null }[]>`select keeper from lanes order by webhook_id`;
      if (second >= 10) kept.push(rows.map(({ keeper }) => keeper ?? '-').join(' '));
    }
  }
  expect(new Set(kept).size).toBe(1);
  const counts = Map.groupBy(kept[0]?.split(' ') ?? [], (keeper) => keeper);
  const first = Array.from({ length: ACTIVE_POLLERS }, (_, rank) => [`p${rank}`, 40 / ACTIVE_POLLERS] as const);
  expect(new Map([...counts].map(([keeper, lanes]) => [keeper, lanes.length]))).toEqual(new Map(first));
});
