/** A failover under load to a synchronous standby: nothing acknowledged is lost, and no POST is without its row. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { sealAll } from '../../src/audit/seals/sealer.ts';
import { verifySeals } from '../../src/audit/seals/verify.ts';
import { backUp, following, startCluster, untilCaughtUp } from '../support/clusters.ts';
import { readOn } from '../support/lived-database.ts';
import { connectTo } from '../support/connect.ts';
import { migrated } from '../support/migrated.ts';
import { insertPartner } from '../support/outbox.ts';
import { failedDisbursementOf } from '../support/payloads.ts';
import { insertEncryptedWebhook, startPollerProcess } from '../support/poller-process.ts';
import { startReceiver, status } from '../support/receiver.ts';
import { untilSettled } from '../support/settled.ts';
import { TcpProxy } from '../support/tcp-proxy.ts';
import { openPool } from '../support/database.ts';

const WRITERS = 4;
const BEFORE = 400;
const AFTER = 200;

test('a failover under load to a synchronous standby: 0 lost, 0 POSTs without their row', async () => {
  const primary = await migrated(startCluster({ synchronous_commit: 'on' }));
  const standby = await (
    await backUp(primary)
  ).start({ signal: 'standby.signal', settings: following(primary, 'second') });
  const [here, there] = [connectTo(primary.url), connectTo(standby.url)];
  await untilCaughtUp(here, there);
  await here`alter system set synchronous_standby_names = 'second'`;
  await here`select pg_reload_conf()`;
  while ((await here`select from pg_stat_replication where sync_state = 'sync'`).length === 0) await sleep(20);

  const receiver = await startReceiver();
  receiver.answerWith(status(200, '', { delayMs: 20 }));
  const partnerId = await insertPartner(here);
  for (const path of ['one', 'two', 'three']) await insertEncryptedWebhook(here, partnerId, `${receiver.url}/${path}`);
  const { proxy, url } = await TcpProxy.to(primary.url);
  const pollers = await Promise.all([startPollerProcess(url), startPollerProcess(url)]);

  const acknowledged: string[] = [];
  const goal = Promise.withResolvers<void>();
  const isOver = () => acknowledged.length >= BEFORE + AFTER;
  async function write(): Promise<void> {
    const sql = connectTo(url);
    while (!isOver()) {
      const loan = crypto.randomUUID();
      try {
        const [{ id }] = await sql<[{ id: string }]>`
          select event_id as id from append_event(
            ${loan}, 0, 'desembolso.falhou', ${partnerId}, ${failedDisbursementOf(loan)}::text::json, 'writer')`;
        acknowledged.push(id);
        if (acknowledged.length === BEFORE) goal.resolve();
      } catch {
        await sleep(20);
      }
    }
  }
  const writing = Promise.all(Array.from({ length: WRITERS }, write));
  await goal.promise;
  await here.end({ timeout: 0 });
  await primary.stop('immediate');
  await there`select pg_promote()`;
  proxy.redirect(standby.url);
  await writing;

  const isDone = async () => (await there`select from deliveries where status <> 'entregue' limit 1`).length === 0;
  while (!(await isDone())) await sleep(100);
  for (const poller of pollers) expect(await poller.end('SIGTERM')).toBe(0);

  const pool = openPool(standby.url, { max: 6 });
  await untilSettled(there);
  const feed = new Set((await readOn(pool, partnerId)).ids);
  const lost = acknowledged.filter((id) => !feed.has(id));
  const posts = Map.groupBy(receiver.posts, (post) => String(post.headers['x-webhook-delivery']));
  const rows = await there<{ id: string; attempts: number }[]>`
    select d.id, count(a.delivery_id)::int as attempts
    from deliveries d left join attempts a on a.delivery_id = d.id group by d.id`;
  const attempts = new Map(rows.map(({ id, attempts: count }) => [id, count]));
  const unreported = [...posts].filter(([id, sent]) => (attempts.get(id) ?? 0) < sent.length);
  const unsent = rows.filter(({ id }) => !posts.has(id));
  console.log(
    `failover: ${acknowledged.length} events acknowledged, ${receiver.posts.length} POSTs for ${rows.length} deliveries, ` +
      `${lost.length} lost, ${unreported.length} deliveries with a POST without its row`,
  );
  expect({ lost, unreported, unsent }).toEqual({ lost: [], unreported: [], unsent: [] });
  const epochs = await there`select distinct epoch from events order by epoch`;
  expect(epochs).toEqual([{ epoch: 1 }, { epoch: 2 }]);
  await sealAll(pool);
  expect((await verifySeals(pool)).findings).toEqual([]);
});
