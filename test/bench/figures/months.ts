/**
 * What months cost when they leave: the bytes of its files, how long it takes to write them, to remove the rows and to bring them
 * back, and how long a read of one delivery, and of a page of the auditors' list, takes out of the files. Every delivery is
 * delivered at its first attempt.
 */
import path from 'node:path';
import { Archives } from '../../../src/archive/archived-rows.ts';
import { type MonthAct, readMonth } from '../../../src/archive/acts.ts';
import { readManifest } from '../../../src/archive/manifest.ts';
import { removeMonth, restoreMonth } from '../../../src/archive/move-month.ts';
import { openPlace } from '../../../src/archive/place.ts';
import { archiveMonth } from '../../../src/archive/write-month.ts';
import { addMonths } from '../../../src/contract/calendar.ts';
import { KINDS } from '../../../src/audit/lists/kinds.ts';
import type { Filters } from '../../../src/audit/lists/kind.ts';
import { readWithRemoved } from '../../../src/audit/lists/removed.ts';
import { sealAll } from '../../../src/audit/seals/sealer.ts';
import { readSent } from '../../../src/delivery/partner/read-sent.ts';
import { Pool } from '../../../src/db/pool.ts';
import { backdateSeals } from '../../support/backdated-seals.ts';
import { makeTestFolder } from '../../support/test-folder.ts';
import { appendEvents, createDatabase, insertWebhooks } from '../carteiro.ts';
import { openEngine } from '../engine.ts';
import { atMost, type Bench, type Figure, type Measured, reported } from '../figure.ts';
import { percentile } from '../harness/statistics.ts';
import { createRandom } from '../../support/random.ts';
import { pathsOf } from '../workload.ts';

const DATABASE = 'months';
const FIRST_DAY = '2024-01-01';
const WEBHOOKS = 20;
const CLAIM = 256;
/** Of the operators' page. */
const MOST_MS = 1_000;

async function deliverAll(url: string, total: number): Promise<void> {
  const engine = openEngine(url);
  while (engine.recorded() < total) {
    const { claim, deliveries } = await engine.claim(CLAIM);
    engine.record(claim, deliveries);
    await engine.settled();
  }
  await engine.close();
}

async function run({ server, receiver, progress, isQuick, seed }: Bench): Promise<Measured[]> {
  const deliveries = isQuick ? 500 : Number(process.env['BENCH_MONTH_DELIVERIES'] ?? 1_000_000);
  const count = isQuick ? 2 : Number(process.env['BENCH_MONTHS'] ?? 1);
  const all = Array.from({ length: count }, (_, n) => addMonths(FIRST_DAY, n).slice(0, 7));
  const total = deliveries * count;
  const url = await createDatabase(server, DATABASE);
  const pool = new Pool({ url, name: DATABASE, max: 3, deadlineMs: 600_000 });
  const folder = await makeTestFolder();
  // Else in a directory: http://127.0.0.1:5000/bucket.
  const bucket = process.env['BENCH_MONTH_BUCKET'] ?? null;
  const placeOf = (name: string) => openPlace(name, bucket === null ? null : accessTo(bucket));
  const took: Record<string, number> = {};
  const timed = async (what: string, work: () => Promise<unknown>) => {
    const startedMs = performance.now();
    await progress.phase(what, 3_600, async () => void (await work()));
    took[what] = performance.now() - startedMs;
  };
  try {
    const partners = await server.on(DATABASE, async (sql) =>
      (await insertWebhooks(sql, receiver.url, pathsOf(WEBHOOKS, 'm'))).map(({ partnerId }) => partnerId),
    );
    for (const month of all) {
      const [{ last }] = await pool.run(
        (sql) => sql<[{ last: number }]>`select coalesce(max(number), 0)::float8 as last from seals`,
      );
      await server.on(DATABASE, (sql) => appendEvents(sql, partners, deliveries));
      await progress.phase(`${deliveries} deliveries of ${month}`, 3_600, () => deliverAll(url, deliveries));
      await sealAll(pool);
      await backdateSeals(pool, new Date(`${month}-20T12:00:00Z`), last);
    }
    const sample = await pool.run(
      (sql) => sql<{ id: string; partnerId: string; recordedAt: Date }[]>`
        select delivery_id as id, partner_id as "partnerId", recorded_at as "recordedAt" from attempts order by random() limit 1000`,
    );
    const before = await sizeOf(pool);
    const place = placeOf(bucket === null ? path.join(folder.path, 'archive') : `s3:/${new URL(bucket).pathname}`);
    const moving = (month: string) => ({ pool, openPlace: placeOf, month, actor: 'bench', reason: null });
    await timed('archive', async () => {
      for (const month of all) await archiveMonth({ ...moving(month), place, signers: [] });
    });
    await timed('remove', async () => {
      for (const month of all) await removeMonth(moving(month), async () => void (await sealAll(pool)));
    });
    let bytes = 0;
    for (const month of all) {
      const act = await pool.run((sql) => readMonth(sql, month));
      const { partes } = await readManifest(place, act as MonthAct);
      bytes += partes.flatMap(({ arquivos }) => arquivos).reduce((sum, file) => sum + file.bytes, 0);
    }
    const archives = new Archives(pool, placeOf);
    const random = createRandom(seed).next;
    const [tookMs, pageMs, attemptsMs]: [number[], number[], number[]] = [[], [], []];
    for (let poll = -5; poll < (isQuick ? 10 : 300); poll += 1) {
      const { id, partnerId, recordedAt } = sample[Math.floor(random() * sample.length)] as (typeof sample)[number];
      const startedMs = performance.now();
      await readSent(
        pool,
        () => ({ secret: 'whsec_AAAA', keyId: 'bench' }),
        partnerId,
        id,
        [1],
        await archives.delivery(id),
      );
      const readMs = performance.now();
      const search = { filters: {}, from: null, until: null, after: [id], limit: 100, cut: null } as const;
      await readWithRemoved(pool, KINDS.entregas, { ...search, order: 'newest first' }, true, archives);
      const listedMs = performance.now();
      const after = [recordedAt.toISOString(), id, '1', 'false'];
      const filters: Filters = poll % 2 === 0 ? {} : { parceiro_id: partnerId };
      await readWithRemoved(
        pool,
        KINDS.tentativas,
        { ...search, filters, after, order: 'newest first' },
        true,
        archives,
      );
      if (poll < 0) continue;
      tookMs.push(readMs - startedMs);
      pageMs.push(listedMs - readMs);
      attemptsMs.push(performance.now() - listedMs);
    }
    await timed('restore', async () => {
      for (const month of all) await restoreMonth(moving(month));
    });
    const seconds = (what: string) => (took[what] ?? 0) / 1_000;
    return [
      reported('month_rows', 'rows and indexes in the database, a delivery', before / total, 'B'),
      reported('month_files', 'files, a delivery', bytes / total, 'B'),
      reported('month_archive', `archive ${total} deliveries and verify the files`, seconds('archive'), 's'),
      reported('month_remove', 'verify them again and remove the rows', seconds('remove'), 's'),
      reported('month_restore', 'bring them back', seconds('restore'), 's'),
      reported(
        'month_read',
        'one removed delivery as it was sent, p99',
        percentile(tookMs, 0.99),
        'ms',
        atMost(MOST_MS),
      ),
      reported(
        'month_attempts',
        '… of their attempts by time, half of one partner, p99',
        percentile(attemptsMs, 0.99),
        'ms',
        atMost(MOST_MS),
      ),
      reported(
        'month_list',
        'a page of 100 in the auditors’ list, p99',
        percentile(pageMs, 0.99),
        'ms',
        atMost(MOST_MS),
      ),
    ];
  } finally {
    await pool.close();
    await folder.remove();
    await server.drop(DATABASE);
  }
}

function accessTo(bucket: string) {
  return { endpoint: new URL(bucket).origin, region: 'us-east-1', keyId: 'bench', secret: 'bench' };
}

async function sizeOf(pool: Pool): Promise<number> {
  const [{ bytes }] = await pool.run(
    (sql) => sql<[{ bytes: number }]>`
      select sum(pg_total_relation_size(c.oid))::float8 as bytes from pg_class c
      where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r'`,
  );
  return bytes;
}

export const months: Figure = {
  id: 'months',
  about:
    'a month of 1,000,000 deliveries (BENCH_MONTH_DELIVERIES; BENCH_MONTHS: so many of them) that goes to its files and comes back ' +
    '(10 minutes)',
  run,
};
