/** How often pollers look after each other. */
import { expect, test, vi } from 'vitest';
import { ACTIVE_POLLERS } from '../../../src/delivery/poller/poll-backoff.ts';
import { withLives } from '../../model/dead-pollers.ts';
import { openPool } from '../../support/database.ts';
import { useEmptyDatabase } from '../../support/one-webhook.ts';

const { sql, url } = await useEmptyDatabase();
const pool = openPool(url);

/** Far less than a poller far behind waits between two turns, and far more than a busy machine needs for one. */
const SOON = { timeout: 300_000 };

test('a poller far behind others looks for the dead as soon as it hears that those before it are gone', async () => {
  await withLives(pool, sql, async (lives) => {
    const names = Array.from({ length: ACTIVE_POLLERS + 1 }, (_, index) => `poller-${index}`);
    const ranked = await sql<[{ name: string }]>`
      select name from unnest(${names}::text[]) as name order by poller_number(name)`;
    const [last = '', ...before] = ranked.map(({ name }) => name).toReversed();
    for (const name of before) await lives.start(name).heartbeat();
    const sign = lives.start(last);
    const polls = vi.spyOn(sign, 'poll');
    const running = sign.run(() => false);
    await vi.waitFor(() => expect(polls).toHaveResolvedTimes(1), SOON);
    await lives.cut(...before);
    await sign.heartbeat();
    await vi.waitFor(() => expect(polls).toHaveBeenCalledTimes(2), SOON);
    sign.stop();
    await running;
  });
});
