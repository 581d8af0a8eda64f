/** Which webhooks a count of `/metrics` stands for. */
import { expect, test } from 'vitest';
import { readWorst } from '../../../src/main/operations/worst.ts';
import { callCommand } from '../../support/command.ts';
import { createTestDatabase } from '../../support/database.ts';
import { commitEvents, insertSubscriber } from '../../support/outbox.ts';
import { pollLanes } from '../../support/poll.ts';

const database = await createTestDatabase();

async function webhookWith(events: number): Promise<{ partner: string; webhook: string }> {
  const { partnerId: partner, id: webhook } = await insertSubscriber(database.sql);
  await commitEvents(database.sql, partner, events);
  return { partner, webhook };
}

test('those with most that is late come first, and those with nothing late or failing not at all', async () => {
  const { sql, pool } = database;
  const [slow, , failing] = [await webhookWith(20), await webhookWith(3), await webhookWith(1)];
  await pollLanes(pool, 'p/1', 200, new Date(Date.now() + 1_000));
  await sql`
    update deliveries set next_attempt_at = now() - interval '95 seconds' where webhook_id = ${slow.webhook} and id not in (select delivery_id from flights())`;
  await sql`update deliveries set attempts = 1 where webhook_id = ${failing.webhook}`;
  await sql`
    update deliveries set failures = 1, next_attempt_at = now() + interval '1 minute'
    where webhook_id = ${failing.webhook}`;
  await sql`
    insert into attempts (delivery_id, number, webhook_id, partner_id, outcome, started_at, url, claim, key_id, duration_ms)
    select id, 1, webhook_id, partner_id, 'erro_conexao', now(), 'https://partner.example/', 'p/1', 'k', 1
    from deliveries where webhook_id = ${failing.webhook}`;
  const found = await pool.transaction((tx) => readWorst(tx, 10));
  expect(found).toEqual([
    {
      ...slow,
      active: true,
      overdue: 12,
      oldest_seconds: 95,
      failing: false,
      saturated: true,
      max_in_flight: 64,
      failed_attempts: 0,
      resultado: null,
      fault: null,
    },
    {
      ...failing,
      active: true,
      overdue: 0,
      oldest_seconds: 0,
      failing: true,
      saturated: false,
      max_in_flight: 64,
      failed_attempts: 1,
      resultado: 'erro_conexao',
      fault: null,
    },
  ]);
  expect(await pool.transaction((tx) => readWorst(tx, 1))).toHaveLength(1);
});

test('a person reads in the table whether a webhook is active, failing and saturated', async () => {
  const { code, stdout } = await callCommand(['queue', 'worst'], { DATABASE_URL: database.url, SANDBOX: 'true' });
  const [heading, first, second] = stdout
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/ {2,}/));
  expect([code, heading?.slice(2)]).toEqual([
    0,
    [
      'active',
      'overdue',
      'oldest_seconds',
      'failing',
      'saturated',
      'max_in_flight',
      'failed_attempts',
      'resultado',
      'fault',
    ],
  ]);
  expect(first?.filter((_, column) => [2, 5, 6].includes(column))).toEqual(['yes', 'no', 'yes']);
  expect(second?.filter((_, column) => [2, 5, 6].includes(column))).toEqual(['yes', 'yes', 'no']);
});

test('the command prints them as one line of JSON, and refuses a limit that is none', async () => {
  const env = { DATABASE_URL: database.url, SANDBOX: 'true' };
  const { code, stdout } = await callCommand(['queue', 'worst', '--json', '--limit', '1'], env);
  expect([code, (JSON.parse(stdout) as unknown[]).length]).toEqual([0, 1]);
  expect((await callCommand(['queue', 'worst', '--limit', '0'], env)).stderr).toContain('Give 1 to 1000.');
});
