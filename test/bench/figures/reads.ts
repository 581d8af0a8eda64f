/**
 * What partners, auditors and the page read, of a small log and of a large one in turns, each of a week: every list, filter and
 * page, one delivery, one event, its evidence, where a feed begins, a webhook's health and the overview. Half of all is one webhook's.
 */
import { KINDS, type KindName } from '../../../src/audit/lists/kinds.ts';
import { readPage } from '../../../src/audit/lists/list.ts';
import { readProof } from '../../../src/audit/proof/proof.ts';
import { readSummary } from '../../../src/delivery/partner/summary.ts';
import { readDeliveries, readDelivery, type DeliverySearch } from '../../../src/delivery/partner/read-deliveries.ts';
import { readSent } from '../../../src/delivery/partner/read-sent.ts';
import { readWebhookHealth } from '../../../src/delivery/partner/webhook-health.ts';
import { countHours } from '../../../src/delivery/queue/maintenance/hour-counter.ts';
import { Pool, type Sql } from '../../../src/db/pool.ts';
import { readFeed, readFeedEvent } from '../../../src/log/feed.ts';
import { findStart } from '../../../src/log/feed-start.ts';
import { listWebhooks } from '../../../src/webhooks/webhooks.ts';
import { type BenchWebhook, createDatabase, insertWebhooks } from '../carteiro.ts';
import { atMost, type Bench, type Figure, type Measured, reported } from '../figure.ts';
import { median, percentile } from '../harness/statistics.ts';
import { createRandom } from '../../support/random.ts';
import { dataOf, EVENT, pathsOf } from '../workload.ts';
import { ALL_DELIVERIES } from '../../support/searches.ts';

const DATABASE = 'reads';
const WEBHOOKS = 100;
const PARTNERS = 20;
const ROWS_A_COMMIT = 25_000;
const MOST_MS = 50;
const SMALL = 10_000;
const MOST_TIMES = 2;

/**
 * Deliveries spread over the last seven days: one in five was tried twice, one in fifty ended in erro, and two in
 * fifty are pending, so the busy webhook has a backlog. Each event is of a transaction of its own, of an epoch that is over.
 */
async function seed(sql: Sql, webhooks: readonly BenchWebhook[], total: number): Promise<void> {
  for (let done = 0; done < total; done += ROWS_A_COMMIT) {
    const rows = Math.min(ROWS_A_COMMIT, total - done);
    await sql`
      with made as materialized (
        select uuidv7(ago) as event_id, uuidv7(ago) as id, now() + ago as at, webhook_id, partner_id, n,
               case when n % 50 = 0 then 'erro' when n % 50 in (1, 2) then 'pendente' else 'entregue' end as status
        from generate_series(${done}::int, ${done + rows - 1}::int) n
        cross join lateral (select interval '7 days' * ((n - ${total}::float8) / ${total})) shift (ago)
        cross join lateral (
          select case when n % 2 = 0 then 1 else 1 + n % ${WEBHOOKS}::int end as place
        ) poll
        cross join lateral (
          select (${webhooks.map(({ id }) => id)}::uuid[])[place] as webhook_id,
                 (${webhooks.map(({ partnerId }) => partnerId)}::uuid[])[place] as partner_id
        ) hook
      ),
      event as (
        insert into events (id, stream, version, type, partner_id, data, occurred_at, actor, fan_out, is_of_loan, seen,
                            epoch, tx)
        select event_id, event_id, 1, ${EVENT}, partner_id, replace(${dataOf('$')}, '$', event_id::text)::json, at, 'bench', 1,
               true, format('%1$s:%1$s:', n + 1)::pg_snapshot, 0, (n + 1)::text::xid8
        from made
      ),
      delivery as (
        insert into deliveries (id, event_id, webhook_id, partner_id, status, attempts, failures, next_attempt_at, finished_at)
        select id, event_id, webhook_id, partner_id, status, 2, case status when 'erro' then 2 else 1 end,
               case when status = 'pendente' then now() + interval '1 hour' end, case when status <> 'pendente' then at end
        from made
      )
      insert into attempts (delivery_id, number, event_id, webhook_id, partner_id, outcome, status_code, started_at, duration_ms, url,
                            claim, answer, recorded_at)
      select id, number, event_id, webhook_id, partner_id, case when fails then 'resposta_nao_2xx' else 'entregue' end,
             case when fails then 503 else 200 end, at, 5 + n % 400, 'https://partner.example/', 'bench/1', '\\x6f6b', at
      from made
      cross join generate_series(1, case when n % 5 = 0 then 2 else 1 end) number
      cross join lateral (select status <> 'entregue' or number < (case when n % 5 = 0 then 2 else 1 end) as fails) outcome`;
  }
}

interface Known {
  readonly pool: Pool;
  readonly random: () => number;
  readonly partnerId: string;
  /** Of the partner; the first one is the busy one. */
  readonly webhookIds: readonly string[];
  readonly sample: readonly { readonly id: string; readonly eventId: string }[];
}

function readings({
  pool,
  random,
  partnerId,
  webhookIds,
  sample,
}: Known): Readonly<Record<string, () => Promise<unknown>>> {
  const all: DeliverySearch = {
    partnerId,
    webhookIds,
    ...ALL_DELIVERIES,
    limit: 100,
  };
  const one = { ...all, webhookIds: webhookIds.slice(0, 1) };
  const pick = () => sample[Math.floor(random() * sample.length)] as (typeof sample)[number];
  const past = () => new Date(Date.now() - random() * 7 * 86_400_000);
  const after = () => ({ eventId: pick().eventId, webhookId: webhookIds[0] as string });
  const listed = (kind: KindName, filters: Readonly<Record<string, string>>) =>
    readPage(
      pool,
      KINDS[kind],
      { filters, from: null, until: past(), after: null, limit: 100, order: 'newest first', cut: null },
      false,
    );
  const feed = { partnerId, event: null, limit: 100, history: false };
  return {
    'deliveries of one webhook': () => readDeliveries(pool, { ...one, after: after() }),
    'deliveries of all': () => readDeliveries(pool, { ...all, after: after() }),
    'by status erro': () => readDeliveries(pool, { ...all, status: 'erro', after: after() }),
    'by status pendente': () => readDeliveries(pool, { ...one, status: 'pendente', after: after() }),
    'by last outcome': () => readDeliveries(pool, { ...one, outcome: 'resposta_nao_2xx', after: after() }),
    'by HTTP status, of all': () => readDeliveries(pool, { ...all, statusCode: 503, after: after() }),
    'by event, of which there is none': () =>
      readDeliveries(pool, { ...one, event: 'repasse.processado', after: after() }),
    'by what there is none of': () => readDeliveries(pool, { ...one, outcome: 'erro_tls', after: after() }),
    'by loan': () => readDeliveries(pool, { ...all, loanId: pick().eventId }),
    'one delivery, as sent': async () => {
      const { id } = pick();
      const numbers = (await readDelivery(pool, partnerId, id))?.attempts.map(({ numero }) => numero) ?? [];
      await readSent(pool, () => ({ secret: 'whsec_AAAA', keyId: 'bench' }), partnerId, id, numbers);
    },
    'the feed since an instant': async () => {
      const from = await findStart(pool, partnerId, past(), false);
      return readFeed(pool, { ...feed, after: from });
    },
    'one event': () => readFeedEvent(pool, partnerId, pick().eventId),
    webhooks: () => listWebhooks(pool, { partnerId, active: null, after: null, limit: 100 }),
    'health of the busy webhook': () => readWebhookHealth(pool, partnerId, webhookIds.slice(0, 1)),
    'the overview of a day': () => readSummary(pool, { partnerId, webhookId: null }, '24h'),
    'auditors: attempts, of a partner': () => listed('tentativas', { parceiro_id: partnerId }),
    'auditors: attempts, by outcome': () => listed('tentativas', { resultado: 'resposta_nao_2xx' }),
    'auditors: attempts, of a delivery': () => listed('tentativas', { entrega_id: pick().id }),
    'auditors: attempts, of a loan': () => listed('tentativas', { emprestimo_id: pick().eventId }),
    'auditors: deliveries, by status': () => listed('entregas', { status: 'erro' }),
    'auditors: deliveries, of an event': () => listed('entregas', { evento_id: pick().eventId }),
    'auditors: events': () => listed('eventos', {}),
    'evidence of a delivery': () => readProof(pool, pick().id),
  };
}

/** A database of so many deliveries, ready to be read. */
async function fill({ server, receiver, progress, seed: random }: Bench, database: string, total: number) {
  const url = await createDatabase(server, database);
  const pool = new Pool({ url, name: 'reads', max: 3, deadlineMs: 60_000 });
  const webhooks = await server.on(database, (sql) =>
    insertWebhooks(sql, receiver.url, pathsOf(WEBHOOKS, 'r'), PARTNERS),
  );
  await progress.phase(`${total} deliveries`, 3_600, () => server.on(database, (sql) => seed(sql, webhooks, total)));
  await progress.phase('vacuum', 1_800, () => server.on(database, (sql) => sql`vacuum (analyze)`));
  const countedMs = performance.now();
  await progress.phase('counting by the hour', 1_800, () => countHours(pool));
  const countS = (performance.now() - countedMs) / 1_000;
  const partnerId = webhooks[0]?.partnerId as string;
  const webhookIds = webhooks.filter((webhook) => webhook.partnerId === partnerId).map(({ id }) => id);
  const sample = await server.on(
    database,
    (sql) => sql<{ id: string; eventId: string }[]>`
      select id, event_id as "eventId" from deliveries
      where webhook_id = ${webhookIds[0] ?? null} and random() < least(1, 5000.0 / ${total}::int)`,
  );
  return { countS, pool, reads: readings({ pool, random: createRandom(random).next, partnerId, webhookIds, sample }) };
}

async function run(bench: Bench): Promise<Measured[]> {
  const { server, progress, isQuick } = bench;
  const total = isQuick ? 20_000 : Number(process.env['BENCH_READS_DELIVERIES'] ?? 10_000_000);
  const turns = isQuick ? 10 : 300;
  const measured: Measured[] = [];
  const small = await fill(bench, `${DATABASE}_small`, SMALL);
  const large = await fill(bench, DATABASE, total);
  try {
    const label = 'counting by the hour, of 1,000,000 attempts';
    measured.push(reported('reads_count', label, (large.countS / total / 1.2) * 1_000_000, 's'));
    for (const [name, readLarge] of Object.entries(large.reads)) {
      const readSmall = small.reads[name] as () => Promise<unknown>;
      const tookMs = { small: [] as number[], large: [] as number[] };
      for (let poll = -10; poll < turns; poll += 1) {
        for (const [size, read] of [['small', readSmall] as const, ['large', readLarge] as const]) {
          const startedMs = performance.now();
          await read();
          if (poll >= 0) tookMs[size].push(performance.now() - startedMs);
        }
      }
      const [few, many] = [percentile(tookMs.small, 0.99), percentile(tookMs.large, 0.99)];
      const middles = `${median(tookMs.small).toFixed(1)} and ${median(tookMs.large).toFixed(1)} ms`;
      progress.note(`${name}: medians ${middles}, p99 ${few.toFixed(1)} and ${many.toFixed(1)} ms`);
      measured.push(reported(`reads_${measured.length}`, `${name}, p99`, many, 'ms', atMost(MOST_MS)));
      const times = `… against ${SMALL} deliveries`;
      measured.push(reported(`reads_${measured.length}`, times, many / few, '×', atMost(MOST_TIMES)));
    }
  } finally {
    for (const { pool } of [small, large]) await pool.close();
    for (const database of [DATABASE, `${DATABASE}_small`]) await server.drop(database);
  }
  return measured;
}

export const reads: Figure = {
  id: 'reads',
  about:
    'what partners, auditors and the page read, of 10,000 deliveries and 10,000,000 (BENCH_READS_DELIVERIES; 12 minutes)',
  run,
};
