/** Pollers on three hosts, each with a network of its own: one is cut off under load, and comes back. */
import { appendFile, open } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { startProgram } from '../../src/db/embedded/embedded-programs.ts';
import { setCap } from '../../src/delivery/queue/orders/lane.ts';
import { startCluster } from '../support/clusters.ts';
import { connectTo } from '../support/connect.ts';
import { migrated } from '../support/migrated.ts';
import { HERE, makeHost, mayMakeHosts } from '../support/net-hosts.ts';
import { commitEvents, insertPartner } from '../support/outbox.ts';
import { insertEncryptedWebhook, type PollerProcess, startPollerProcess } from '../support/poller-process.ts';
import { startReceiver } from '../support/receiver.ts';

const HOSTS = [2, 3, 4];
const WEBHOOKS = 6;
const CAP = 8;
const EVENTS = 300;
const ANSWER_MS = 100;

const mayRun = await mayMakeHosts();

/** The most POSTs of each path that are unanswered at once, and how many in all. */
function watchFlights() {
  const open = new Map<string, number>();
  const peaks = new Map<string, number>();
  return {
    peaks,
    begin(path: string): () => void {
      const now = (open.get(path) ?? 0) + 1;
      open.set(path, now);
      peaks.set(path, Math.max(peaks.get(path) ?? 0, now));
      return () => void open.set(path, (open.get(path) ?? 0) - 1);
    },
  };
}

/** A server that the hosts may reach. */
async function startServer() {
  const cluster = await migrated(startCluster());
  await appendFile(join(cluster.cluster.data, 'pg_hba.conf'), `host all all ${HERE}/24 scram-sha-256\n`);
  // The embedded server is for the loopback alone, so it is started here with this address too.
  await cluster.stop('fast');
  const log = await open(join(cluster.cluster.folder, 'server.log'), 'a');
  const { port } = new URL(cluster.url);
  const args = ['-D', cluster.cluster.data, '-p', port, '-c', `listen_addresses=127.0.0.1,${HERE}`];
  await startProgram('postgres', args, cluster.cluster.owner, log.fd);
  await log.close();
  const sql = connectTo(cluster.url, { max: 2 });
  while (
    !(await sql`select`.then(
      () => true,
      () => false,
    ))
  )
    await sleep(20);
  const url = new URL(cluster.url);
  url.hostname = HERE;
  return { sql, url: url.href };
}

test.skipIf(!mayRun)(
  'three pollers on hosts of their own, one cut off and healed under load: 0 lost, 0 beyond the cap, each POST has its row',
  async () => {
    const hosts = await Promise.all(HOSTS.map(makeHost));
    onTestFinished(async () => void (await Promise.all(hosts.map((host) => host.remove()))));
    const { sql, url } = await startServer();
    const receiver = await startReceiver({ host: HERE });
    const flights = watchFlights();
    const held = new Set<() => void>();
    let isHolding = false;
    receiver.answerWith(({ path }, response) => {
      const end = flights.begin(path);
      const answer = () => {
        if (!held.delete(answer)) return;
        end();
        response.writeHead(200).end();
      };
      held.add(answer);
      if (!isHolding) setTimeout(answer, ANSWER_MS);
    });
    const partnerId = await insertPartner(sql);
    for (let index = 0; index < WEBHOOKS; index += 1) {
      const { id } = await insertEncryptedWebhook(sql, partnerId, `${receiver.url}/${index}`);
      await sql.begin((tx) => setCap(tx, id, CAP));
    }
    const pollers = await Promise.all(hosts.map((host) => startPollerProcess(url, {}, host.prefix)));
    const countHeld = async (by = '%') => (await sql`select from flights() where poller like ${by}`).length;
    const ofPoller = (poller: PollerProcess) => `%-${poller.pid}-%`;

    await commitEvents(sql, partnerId, EVENTS);
    await receiver.received(EVENTS);
    // It has POSTs under way that are not answered before the cut, or there would be nothing to take over.
    isHolding = true;
    while (held.size === 0 || held.size !== (await countHeld())) await sleep(10);
    const inFlight = await Promise.all(pollers.map((poller) => countHeld(ofPoller(poller))));
    const busiest = inFlight.indexOf(Math.max(...inFlight));
    const [cutOff, victim] = [hosts[busiest], pollers[busiest]];
    const others = pollers.toSpliced(busiest, 1);
    await cutOff?.cut();
    isHolding = false;
    for (const answer of held) answer();
    // The others notice, and take over what it held.
    while (!others.some(({ lines }) => lines.join('\n').includes('a poller is gone'))) await sleep(20);
    while ((await sql`select from deliveries where status <> 'entregue' limit 1`).length > 0) await sleep(20);
    await cutOff?.heal();
    // It is one of them again: nothing else delivers now.
    for (const other of others) expect(await other.end('SIGTERM')).toBe(0);
    await commitEvents(sql, partnerId, EVENTS / 10);
    while ((await sql`select from deliveries where status <> 'entregue' limit 1`).length > 0) await sleep(20);
    expect(await victim?.end('SIGTERM')).toBe(0);

    const posts = Map.groupBy(receiver.posts, (post) => String(post.headers['x-webhook-delivery']));
    const rows = await sql<{ id: string; attempts: number }[]>`
      select d.id, count(a.*) filter (where not a.late)::int as attempts
      from deliveries d left join attempts a on a.delivery_id = d.id group by d.id`;
    const lost = rows.filter(({ id }) => !posts.has(id));
    const unreported = rows.filter(({ id, attempts }) => (posts.get(id)?.length ?? 0) > attempts);
    const over = [...flights.peaks].filter(([, most]) => most > CAP);
    console.log(
      `three hosts, one cut off: ${rows.length} deliveries, ${receiver.posts.length} POSTs, ${lost.length} lost, ` +
        `${unreported.length} with a POST without its row, at most ${Math.max(...flights.peaks.values())} of ${CAP} in flight`,
    );
    expect({ lost, unreported, over }).toEqual({ lost: [], unreported: [], over: [] });
    expect(rows).toHaveLength((EVENTS + EVENTS / 10) * WEBHOOKS);
    const [taken] = await sql`
      select count(*)::int as n, max(recorded_at - started_at) < lease() as "before their leases ended" from attempts where outcome = 'desconhecido' and poller like ${victim ? ofPoller(victim) : ''}`;
    expect(taken).toEqual({ n: expect.any(Number), 'before their leases ended': true });
    expect(receiver.posts.length).toBeGreaterThan(rows.length);
  },
);
