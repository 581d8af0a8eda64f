/** A delivery that arrived by a late report, which lies in another month than its other attempts. */
import { expect, test } from 'vitest';
import { removeMonth } from '../../src/archive/move-month.ts';
import { openPlace } from '../../src/archive/place.ts';
import { verifyMonth } from '../../src/archive/verify-month.ts';
import { archiveMonth } from '../../src/archive/write-month.ts';
import { sealAll } from '../../src/audit/seals/sealer.ts';
import { backdateSeals } from '../support/backdated-seals.ts';
import { createTestDatabase } from '../support/database.ts';
import { commitEvents, insertSubscriber } from '../support/outbox.ts';
import { untilSettled } from '../support/settled.ts';
import { makeTestFolder } from '../support/test-folder.ts';

const { sql, pool } = await createTestDatabase();

/** An attempt at each delivery, and what is settled sealed as if it were of this day. */
async function attempt(outcome: string, isLate: boolean, day: string): Promise<void> {
  const at = new Date(`${day}T12:00:00Z`);
  await sql`
    insert into attempts (delivery_id, number, late, event_id, webhook_id, partner_id, outcome, status_code, started_at, duration_ms, url, claim, recorded_at)
    select id, 1, ${isLate}, event_id, webhook_id, partner_id, ${outcome}, ${isLate ? 200 : null}, ${at}, ${isLate ? 1 : null}, 'https://partner.example/', 'p/1', ${at} from deliveries`;
  await untilSettled(sql);
  const [{ seals }] = await sql<[{ seals: number }]>`select count(*)::int as seals from seals`;
  await sealAll(pool);
  await backdateSeals(pool, at, seals);
}

test('stays with its attempts, and its month goes', async () => {
  const { partnerId } = await insertSubscriber(sql);
  await commitEvents(sql, partnerId, 2);
  await attempt('desconhecido', false, '2025-12-31');
  await attempt('entregue', true, '2026-01-01');
  await sql`update deliveries set status = 'entregue', attempts = 1, next_attempt_at = null, finished_at = '2026-01-01T12:00:00Z'`;
  const { path: folder } = await makeTestFolder();
  const open = (name: string) => openPlace(name, null);
  for (const month of ['2025-12', '2026-01']) {
    const moving = { pool, openPlace: open, month, actor: 'test', reason: null };
    await archiveMonth({ ...moving, place: open(folder), signers: [] });
    await removeMonth(moving, async () => void (await sealAll(pool)));
    await verifyMonth(pool, open, month);
  }
  const [kept] =
    await sql`select (select count(*)::int from deliveries) as deliveries, (select count(*)::int from attempts) as attempts`;
  expect(kept).toEqual({ deliveries: 2, attempts: 4 });
});
