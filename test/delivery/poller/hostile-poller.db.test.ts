/** Every hostile receiver against a real poller: what its rows say, and what its process takes for it. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { memoryOf } from '../../bench/harness/cpu.ts';
import { makeAuthority } from '../../support/certificates.ts';
import { createTestDatabase } from '../../support/database.ts';
import { startHostileFarm } from '../../support/hostile-farm.ts';
import { commitEvents, insertPartner } from '../../support/outbox.ts';
import { insertEncryptedWebhook, startPollerProcess } from '../../support/poller-process.ts';
import { type Receiver, startReceiver, status } from '../../support/receiver.ts';
import { makeTestFolder } from '../../support/test-folder.ts';

const MAX_GROWTH_MIB = 20;
const WEBHOOKS = 64;
const WARM_UP_EVENTS = 100;

const authority = makeAuthority();
const [database, farm, folder] = await Promise.all([createTestDatabase(), startHostileFarm(), makeTestFolder()]);
const friends: readonly Receiver[] = [
  await startReceiver(),
  await startReceiver({ tls: authority.issue(['localhost']) }),
];
const trusted = join(folder.path, 'ca.pem');
await writeFile(trusted, farm.ca + authority.ca);
const poller = await startPollerProcess(database.url, { NODE_EXTRA_CA_CERTS: trusted });

/** Waits until no delivery of the partner is without an attempt, and returns the most memory that the poller took. */
async function peakUntilTried(partnerId: string): Promise<number> {
  let peak = 0;
  for (;;) {
    peak = Math.max(peak, memoryOf(poller.pid));
    const untried = await database.sql`
      select from deliveries d
      where partner_id = ${partnerId} and not exists (select from attempts where delivery_id = d.id)
      limit 1`;
    if (untried.length === 0) return peak;
    await sleep(50);
  }
}

test('a poller that sends to all of them at once grows by less than 20 MiB, and every attempt ends', async () => {
  const { sql } = database;
  const friendly = await insertPartner(sql);
  for (const friend of friends) {
    friend.answerWith(status(200, '', { delayMs: 5 }));
    for (let index = 0; index < WEBHOOKS; index += 1) {
      await insertEncryptedWebhook(sql, friendly, `${friend.url}/${index}`);
    }
  }
  await commitEvents(sql, friendly, WARM_UP_EVENTS);
  await peakUntilTried(friendly);
  const before = memoryOf(poller.pid);

  const hostile = await insertPartner(sql);
  for (const { url } of farm.receivers) await insertEncryptedWebhook(sql, hostile, url);
  await commitEvents(sql, hostile, 1);
  const peak = await peakUntilTried(hostile);

  // Whoever is tried again was still to be sent.
  const rows = await sql<
    { url: string; outcome: string; statusCode: number | null; next: string; durationMs: number }[]
  >`
      select a.url, outcome, status_code as "statusCode", case when d.attempts = 1 then d.status else 'pendente' end as next,
             duration_ms as "durationMs"
      from attempts a join deliveries d on d.id = a.delivery_id where a.partner_id = ${hostile} and number = 1`;
  const found = new Map(rows.map(({ url, outcome, statusCode, next }) => [url, { outcome, statusCode, next }]));
  expect(rows).toHaveLength(farm.receivers.length);
  expect(farm.receivers.map(({ name, url }) => [name, found.get(url)])).toEqual(
    farm.receivers.map(({ name, expected: [first] }) => [
      name,
      { ...first, next: first?.outcome === 'entregue' ? 'entregue' : 'pendente' },
    ]),
  );
  const longestMs = Math.max(...rows.map(({ durationMs }) => durationMs));
  console.log(
    `hostile receivers: a poller of ${before.toFixed(0)} MiB grew to ${peak.toFixed(0)} MiB at most, the longest attempt took ${longestMs} ms`,
  );
  expect(peak - before).toBeLessThan(MAX_GROWTH_MIB);
});
