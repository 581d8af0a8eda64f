/** What a poller may take for webhooks that hang, so that others find a slot. */
import type { Pool, Sql } from '../../src/db/pool.ts';
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
  const poller = startHeldPoller(pool, 'one', CAPACITY, soon());
  await poller.fill();
  for (let webhook = 0; webhook < 20; webhook += 1) await insertWebhook(sql, partnerId, 'https://hangs.example/');
  await poller.fill(1);
  await commitEvents(sql, partnerId, 1);
  await poller.fill(1);
  if (poller.flying() !== 52) throw new Error(`a partner that has its share holds ${poller.flying()} of 52 slots`);
  await subscribe(sql, 'https://also-hangs.example/', 20, 8);
  await poller.fill(1);
  if (poller.flying() === CAPACITY) throw new Error('partners that hang took every slot');
  await subscribe(sql, 'https://answers.example/', 1, 3);
  await poller.tick(2);
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

/** Attempts without an answer, then answers. */
export async function fallSilent(pool: Pool, sql: Sql): Promise<void> {
  await subscribe(sql, 'https://hangs.example/', 1, 40);
  const poller = startHeldPoller(pool, 'one', CAPACITY, soon());
  await poller.fill();
  await poller.end(SILENCE);
  await poller.fill(1);
  if (poller.flying() !== 1) throw new Error(`${poller.flying()} in flight to a webhook that does not answer`);
  await poller.end({ ...DELIVERED, outcome: 'resposta_nao_2xx', statusCode: 500 });
  // What it says of one request is no reason for more than it had at first, and doubles what it has.
  for (const [poll, slots] of [2, 4, 8, 8].entries()) {
    await poller.fill(2 + poll);
    if (poller.flying() !== slots) throw new Error(`${poller.flying()} in flight to a webhook that answers again`);
    await poller.end({ ...DELIVERED, outcome: 'resposta_nao_2xx', statusCode: 500 });
  }
}
