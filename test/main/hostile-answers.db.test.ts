/**
 * The product as it runs, an API and a poller, while one partner's receiver answers the worst texts we know: another partner's
 * deliveries arrive once each, and the worst texts cost what plain texts of the same length cost.
 */
import { expect, onTestFinished, test } from 'vitest';
import { cpuOf } from '../bench/harness/cpu.ts';
import { createTestDatabase } from '../support/database.ts';
import { callCommand, sandboxOn, startServing } from '../support/command.ts';
import { commitEvents, insertPartner } from '../support/outbox.ts';
import { insertEncryptedWebhook } from '../support/poller-process.ts';
import { startReceiver, status } from '../support/receiver.ts';
import { WORST_PIECES } from '../support/worst-texts.ts';

const KEPT_CHARACTERS = 8_192;
const EVENTS = 300;
/** A quadratic expression took two hundred times as long. */
const MOST = 5;

const filled = (piece: string) => `${piece.repeat(KEPT_CHARACTERS).slice(0, KEPT_CHARACTERS - 1)}x`;
const WORST = Object.values(WORST_PIECES).map(filled);
const PLAIN = 'the order was taken, thank you. '.repeat(KEPT_CHARACTERS / 32);

const database = await createTestDatabase();
const { sql } = database;

test('another partner is served as if it were not there, by poller and API', async () => {
  const env = sandboxOn(database.url);
  const [hostile, friend] = [await startReceiver(), await startReceiver()];
  const [stranger, partner] = [await insertPartner(sql), await insertPartner(sql)];
  await insertEncryptedWebhook(sql, stranger, hostile.url);
  await insertEncryptedWebhook(sql, partner, friend.url);
  const [poll, api] = await Promise.all([startServing('poll', env), startServing('api', env)]);
  onTestFinished(async () => void (await Promise.all([poll.end('SIGTERM'), api.end('SIGTERM')])));
  const token = await callCommand(['token', '--partner', stranger, '--scope', 'webhooks:read'], env);
  const headers = { authorization: `Bearer ${token.stdout.trim()}` };

  async function deliver(answers: readonly string[]) {
    let answered = 0;
    hostile.answerWith((post, response, socket) => {
      const text = answers[(answered += 1) % answers.length] ?? '';
      status(500, `${text} and it goes on`)(post, response, socket);
    });
    const before = { poll: cpuOf(poll.pid), api: cpuOf(api.pid) };
    const [{ last }] = await sql<[{ last: number }]>`select coalesce(max(position), 0)::float8 as last from events`;
    await Promise.all([commitEvents(sql, stranger, EVENTS), commitEvents(sql, partner, EVENTS)]);
    for (;;) {
      const [{ open }] = await sql<[{ open: number }]>`
        select count(*)::int as open from deliveries d join events e on e.id = d.event_id
        where e.position > ${last} and d.attempts = 0 or d.id in (select delivery_id from flights())`;
      if (open === 0) break;
    }
    const rows = await sql<{ id: string }[]>`
      select d.id from deliveries d join events e on e.id = d.event_id where e.position > ${last} and d.partner_id = ${stranger}
      limit 60`;
    for (const { id } of rows)
      for (const path of [`/v1/entregas/${id}`, `/v1/entregas/${id}/prova`])
        expect((await fetch(`${api.url}${path}`, { headers })).status).toBe(200);
    return { poll: cpuOf(poll.pid) - before.poll, api: cpuOf(api.pid) - before.api };
  }

  await deliver([PLAIN]);
  const plain = await deliver([PLAIN]);
  const worst = await deliver(WORST);
  console.log(`CPU beside plain answers ${JSON.stringify(plain)}, beside the worst ${JSON.stringify(worst)}`);
  const outcomes = await sql`
    select partner_id = ${partner} as healthy, outcome, status_code as status, count(*)::int as count
    from attempts where number = 1 group by 1, 2, 3 order by 1`;
  expect(outcomes).toEqual([
    { healthy: false, outcome: 'resposta_nao_2xx', status: 500, count: 3 * EVENTS },
    { healthy: true, outcome: 'entregue', status: 200, count: 3 * EVENTS },
  ]);
  expect(friend.posts).toHaveLength(3 * EVENTS);
  expect(worst.poll).toBeLessThan(MOST * plain.poll);
  expect(worst.api).toBeLessThan(MOST * plain.api);
});
