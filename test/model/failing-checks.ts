/** What the policy for failing endpoints must keep: each failure counted once, one probe at a time, the others told. */
import type { Pool, Sql } from '../../src/db/pool.ts';
import { detectFailing } from '../../src/delivery/queue/maintenance/failing.ts';
import type { SendResult } from '../../src/delivery/sending/send.ts';
import { DELIVERED } from '../support/delivered.ts';
import { startHeldPoller } from '../support/held-poller.ts';
import { commitEvents, insertPartner, insertSubscriber, insertWebhook } from '../support/outbox.ts';

const POLICY = { failingAfter: 3, failingHours: 1, suspendAfterDays: null };
const BROKEN: SendResult = { ...DELIVERED, outcome: 'resposta_nao_2xx', statusCode: 500 };
const URL = 'https://partner.example/';

const look = (pool: Pool) => detectFailing(pool, POLICY, { restS: 0 });

/** Two deliveries fail twice, an hour apart, with looks in between: four failures, falhando, and one probe at a time. */
export async function probeFailing(pool: Pool, sql: Sql): Promise<void> {
  const { partnerId, id } = await insertSubscriber(sql, URL, ['desembolso.falhou', 'webhook.falhando']);
  await look(pool);
  const poller = startHeldPoller(pool, 'poller', 64, Date.now() + 60_000);
  await commitEvents(sql, partnerId, 2);
  for (const atS of [0, 3_700]) {
    await poller.fill(atS);
    await poller.end(BROKEN);
    await look(pool);
    await look(pool);
  }
  const [run] = await sql<{ failures: number }[]>`select failures from failing_runs where webhook_id = ${id}`;
  if (run?.failures !== 4) throw new Error(`of 4 failures ${run?.failures ?? 0} were counted`);
  const [reported] = await sql`
    select from deliveries d join messages m on m.event_id = d.event_id
    where d.webhook_id = ${id} and m.type = 'webhook.falhando'`;
  if (reported !== undefined) throw new Error('the failing webhook is told of itself');
  await commitEvents(sql, partnerId, 20);
  await poller.fill(3_800);
  if (poller.flying(URL) !== 1) throw new Error(`${poller.flying(URL)} of a falhando webhook are in flight`);
  await poller.end(DELIVERED);
  await look(pool);
  await poller.fill(3_810);
  if (poller.flying(URL) < 2) throw new Error('a webhook that answers well is still probed');
  await poller.end(DELIVERED);
}

/** Three webhooks recover at once, and one transaction may end one: the others are ended by later ones. */
export async function recoverInSteps(pool: Pool, sql: Sql): Promise<void> {
  const partnerId = await insertPartner(sql);
  for (let count = 0; count < 3; count += 1) await insertWebhook(sql, partnerId, URL);
  await look(pool);
  await sql`update failing_policy set looked_at = now() - interval '2 hours'`;
  await sql`update lanes set failing_since = now()`;
  for (let hasMore = true; hasMore;)
    hasMore = (await detectFailing(pool, POLICY, { restS: 3_600, atOnce: 1 }))?.hasMore ?? false;
  const { length } = await sql`select from lanes where failing_since is not null`;
  if (length > 0) throw new Error(`${length} that answer well are still falhando`);
}
