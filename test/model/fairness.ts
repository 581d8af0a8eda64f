/** What a poller may take for webhooks that hang, so that others find a slot. */
import type { Pool, Sql } from '../../src/db/pool.ts';
import { armLanes } from '../support/arm-lanes.ts';
import { claimDue } from '../support/claim-due.ts';
import { record } from '../../src/delivery/queue/record.ts';
import { DELIVERED } from '../support/delivered.ts';
import { SILENCE, startHeldPoller } from '../support/held-poller.ts';
import { commitEvents, insertPartner, insertWebhook } from '../support/outbox.ts';

const CAPACITY = 64;
/** Later than whatever a check commits. */
const soon = () => Date.now() + 60_000;

async function subscribe(sql: Sql, url: string, webhooks: number, events: number): Promise<string> {
  const partnerId = await insertPartner(sql);
  for (let webhook = 0; webhook < webhooks; webhook += 1) await insertWebhook(sql, partnerId, url);
  await commitEvents(sql, partnerId, events);
  return partnerId;
}

/** One partner hangs with all it has; another one comes, and then a third that hangs as well. */
export async function shareOut(pool: Pool, sql: Sql): Promise<void> {
  const partnerId = await subscribe(sql, 'https://hangs.example/', 20, 8);
  const sated = [partnerId];
  const startMs = soon();
  const poller = startHeldPoller(pool, 'one', CAPACITY, startMs);
  await poller.fill();
  sated.push(await subscribe(sql, 'https://also-hangs.example/', 20, 8));
  await poller.fill();
  if (poller.flying() === CAPACITY) throw new Error('partners that hang took every slot');
  const [{ work }] = await sql<[{ work: boolean }]>`
    select wait_for_work(${new Date(startMs)}, 0, 0, '-infinity', ${sated}::uuid[]) as work`;
  if (work) throw new Error('a poller looks again and again at lanes whose partner has its share');
  await subscribe(sql, 'https://answers.example/', 1, 3);
  await poller.tick();
  if (poller.flying('https://answers') !== 3) throw new Error('a partner that holds nothing was not served');
  for (let atS = 5; atS < 100; atS += 5) {
    await poller.end(DELIVERED);
    await poller.fill(atS);
  }
  const left = await sql`select from deliveries where status <> 'entregue'`;
  if (left.length > 0) throw new Error(`${left.length} deliveries left behind: their partner has its share for ever`);
  await commitEvents(sql, partnerId, 8);
  await poller.fill(100);
  if (poller.flying() !== 52) throw new Error(`a partner that holds nothing gets ${poller.flying()} of 52 slots`);
}

/** More lanes wait whose partners have their shares than a poller has slots, or have them after the claim. */
export async function hideNobody(pool: Pool, sql: Sql): Promise<void> {
  const poller = startHeldPoller(pool, 'one', 2 * CAPACITY, soon());
  for (const url of ['https://one.hangs/', 'https://two.hangs/']) {
    await subscribe(sql, url, 200, 1);
    await poller.fill();
  }
  const answers = await subscribe(sql, 'https://answers.example/', 1, 1);
  // By the long way: what goes the short one is not looked for among the others.
  await sql`update arrivals set delivery_id = null`;
  await poller.tick();
  if (poller.flying('https://answers') === 0) throw new Error('lanes whose partner has its share hide the others');
  await commitEvents(sql, answers, 1);
  await sql`update arrivals set delivery_id = null`;
  await poller.end(SILENCE, 'https://one.hangs', 30);
  await poller.tick(1);
  if (poller.flying('https://answers') === 1) throw new Error('lanes whose partner reaches its share hide the others');
}

/** Attempts without an answer, then one of another poller, then an answer. */
export async function fallSilent(pool: Pool, sql: Sql): Promise<void> {
  await subscribe(sql, 'https://hangs.example/', 1, 40);
  const startMs = soon();
  const one = startHeldPoller(pool, 'one', CAPACITY, startMs);
  const other = startHeldPoller(pool, 'other', CAPACITY, startMs);
  await one.fill();
  await one.end(SILENCE);
  for (const poller of [one, other]) await poller.fill(1);
  const flying = one.flying() + other.flying();
  if (flying !== 1) throw new Error(`${flying} in flight to a webhook that does not answer`);
  for (const poller of [one, other]) await poller.end({ ...DELIVERED, outcome: 'resposta_nao_2xx', statusCode: 500 });
  // What it says of one request is no reason for more than it had at first, and doubles what it has.
  for (const [turn, slots] of [2, 4, 8, 8].entries()) {
    await one.fill(2 + turn);
    if (one.flying() !== slots) throw new Error(`${one.flying()} in flight to a webhook that answers again`);
    await one.end({ ...DELIVERED, outcome: 'resposta_nao_2xx', statusCode: 500 });
  }
}

/** An attempt without an answer is told of while a claim holds the lane. */
export async function fallSilentBesideClaim(pool: Pool, sql: Sql): Promise<void> {
  await subscribe(sql, 'https://hangs.example/', 1, 20);
  const now = new Date(soon());
  await armLanes(sql, now);
  const { deliveries } = await pool.transaction((tx) => claimDue(tx, 'p/1', 1, now));
  const reports = deliveries.map(({ id: deliveryId, webhookId, partnerId, number, url }) => ({
    deliveryId,
    webhookId,
    partnerId,
    number,
    url,
    claim: 'p/1',
    keyId: 'key',
    bodyDigest: '0'.repeat(64),
    startedAtMs: 0,
    startedByMs: now.getTime(),
    result: SILENCE,
  }));
  await sql.begin(async (claiming) => {
    await claiming`select from lanes for update`;
    await record(pool, reports, () => 0, now);
    await armLanes(sql, now);
  });
  await armLanes(sql, now);
  const after = await pool.transaction((tx) => claimDue(tx, 'p/2', 10, now));
  if (after.deliveries.length !== 1)
    throw new Error(`${after.deliveries.length} in flight to one that does not answer`);
}
