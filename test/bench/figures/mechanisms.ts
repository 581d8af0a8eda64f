/**
 * What each mechanism of the hot path buys: the steady state of endurance.ts, once as it is and once with each mechanism taken
 * out, both with a snapshot held open, so that nothing can be vacuumed, and without one. It tells the pages that PostgreSQL
 * looks at for a delivery and the median claim, both of the last 10,000 of 30,000 deliveries; the pages of a look for due lanes
 * at the end, from the mark on and from the first lane on; the CPU of PostgreSQL for 10,000 deliveries; and the size of what is
 * hot. Pages do not depend on how busy the machine is. src/delivery/README.md has the table.
 */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Cleaner } from '../../../src/delivery/queue/upkeep/cleaner.ts';
import { DUE_FROM_EVER, DueMark } from '../../../src/delivery/queue/upkeep/due-mark.ts';
import { createDatabase, insertWebhooks } from '../carteiro.ts';
import { type Bench, type Figure, type Measured, told } from '../figure.ts';
import { cpuOfServer } from '../harness/cpu.ts';
import type { Sql } from '../../../src/db/pool.ts';
import { connect, type Server } from '../harness/server.ts';
import { median } from '../harness/statistics.ts';
import { drive, type Load } from '../steady.ts';
import { pathsOf } from '../workload.ts';

const DATABASE = 'mechanisms';
const FUNCTIONS = path.resolve(import.meta.dirname, '../../../drizzle/functions');
const WEBHOOKS = 100;
/** Low enough that the machine is not saturated with a mechanism taken out, or queues would be the figure. */
const PACE = 1_500;

/** One mechanism, and how it is taken out. */
interface Mechanism {
  readonly name: string;
  /** In functions' files: texts, and what stands in their place. */
  readonly rewrites?: readonly (readonly [file: string, find: string, put: string])[];
  readonly statement?: string;
  /** In this process; returns what puts it back. */
  readonly disable?: () => () => void;
}

const MECHANISMS: readonly Mechanism[] = [
  { name: 'as it is' },
  {
    name: 'without scan_from',
    rewrites: [
      ['find_due.sql', 'and d.next_attempt_at between l.scan_from and moment', 'and d.next_attempt_at <= moment'],
      ['rearm_lanes.sql', 'and d.next_attempt_at >= l.scan_from and', 'and'],
    ],
  },
  {
    name: 'without next_scan_from',
    rewrites: [
      [
        'rearm_lanes.sql',
        'scan_from = least(l.next_scan_from, s.first_due, s.due_at, moment),',
        'scan_from = least(s.first_due, s.due_at, moment),',
      ],
    ],
  },
  {
    name: 'without flying_to',
    rewrites: [
      [
        'state_of_lane.sql',
        'and d.next_attempt_at between l.scan_from and greatest(l.flying_to, until)',
        'and d.next_attempt_at >= l.scan_from',
      ],
    ],
  },
  { name: 'with a unique key of lanes', statement: 'create unique index lanes_one on lanes (webhook_id)' },
  {
    name: 'without the remembered snapshot',
    rewrites: [
      ['arrivals_taken.sql', "coalesce(nullif(current_setting('carteiro.taken', true), ''), '1:1:')", "'1:1:'"],
    ],
  },
  {
    name: 'without the due mark',
    disable: () => {
      const { get } = DueMark.prototype;
      DueMark.prototype.get = () => DUE_FROM_EVER;
      return () => (DueMark.prototype.get = get);
    },
  },
  {
    name: 'without the cleaner',
    disable: () => {
      const { count } = Cleaner.prototype;
      Cleaner.prototype.count = () => undefined;
      return () => (Cleaner.prototype.count = count);
    },
  },
];

/** Takes the mechanism out; returns what ends that. */
async function takeOut(server: Server, { rewrites, statement, disable }: Mechanism): Promise<() => void> {
  for (const [file, find, put] of rewrites ?? []) {
    const source = await readFile(path.join(FUNCTIONS, file), 'utf8');
    if (!source.includes(find)) throw new Error(`${file} has no longer: ${find}`);
    await server.on(DATABASE, (sql) => sql.unsafe(source.replaceAll(find, put)));
  }
  if (statement !== undefined) await server.on(DATABASE, (sql) => sql.unsafe(statement));
  return disable?.() ?? (() => undefined);
}

interface Cost {
  readonly claimMs: number;
  readonly pages: number;
  readonly cpuS: number;
  readonly hotMiB: number;
  /** Pages of a look for due lanes: from the due mark on, and from the first lane on. */
  readonly lookPages: readonly [number, number];
}

/** Pages that statements of this database have looked at so far; sessions report theirs about once a second. */
async function readPages(sql: Sql): Promise<number> {
  const [row] = await sql<[{ pages: number }]>`
    select (blks_hit + blks_read)::float8 as pages from pg_stat_database where datname = current_database()`;
  return row.pages;
}

async function pagesOfLook(sql: Sql, from: string): Promise<number> {
  const [row] = await sql.unsafe<[{ 'QUERY PLAN': [{ Plan: { 'Shared Hit Blocks': number } }] }]>(`
    explain (analyze, buffers, format json)
    select exists (select from lanes where next_due_at between ${from} and now() and partner_id <> all ('{}'))`);
  return row['QUERY PLAN'][0].Plan['Shared Hit Blocks'];
}

async function measure(
  { server, receiver, isQuick }: Bench,
  mechanism: Mechanism,
  isSnapshotHeld: boolean,
): Promise<Cost> {
  const total = isQuick ? 3_000 : 30_000;
  const url = await createDatabase(server, DATABASE);
  const paths = pathsOf(WEBHOOKS, 'm');
  const webhooks = await server.on(DATABASE, (sql) => insertWebhooks(sql, receiver.url, paths));
  const putBack = await takeOut(server, mechanism);
  const [holder, reader] = [connect(url), connect(url)];
  const load: Load = { done: 0, claims: [] };
  const cpuBefore = cpuOfServer(server.postmaster);
  try {
    if (isSnapshotHeld) {
      await holder`begin isolation level repeatable read`;
      await holder`select count(*) from lanes`;
    }
    const ids = webhooks.map((webhook) => webhook.id);
    await drive(url, ids, PACE, load, () => load.done >= (total * 2) / 3);
    const [before, doneBefore] = [await readPages(reader), load.done];
    const last: Load = { done: 0, claims: [] };
    await drive(url, ids, PACE, last, () => last.done >= total / 3);
    await sleep(1_500);
    const pages = await readPages(reader);
    const [size] = await reader<[{ bytes: number }]>`
      select sum(pg_total_relation_size(name::regclass))::float8 as bytes
      from unnest(array['arrivals', 'lanes', 'deliveries_due']) as hot (name)`;
    return {
      claimMs: median(last.claims.map(({ tookMs }) => tookMs)),
      pages: (pages - before) / last.done,
      cpuS: ((cpuOfServer(server.postmaster) - cpuBefore) / (doneBefore + last.done)) * 10_000,
      hotMiB: size.bytes / 2 ** 20,
      lookPages: [await pagesOfLook(reader, "now() - interval '10 seconds'"), await pagesOfLook(reader, "'-infinity'")],
    };
  } finally {
    putBack();
    await Promise.all([holder.end({ timeout: 5 }), reader.end({ timeout: 5 })]);
    await server.drop(DATABASE);
  }
}

async function run(bench: Bench): Promise<Measured[]> {
  const measured: Measured[] = [];
  for (const isHeld of [true, false]) {
    for (const [index, mechanism] of MECHANISMS.entries()) {
      const name = `${mechanism.name}, ${isHeld ? 'beside a held snapshot' : 'no snapshot held'}`;
      const cost = await bench.progress.phase(name, 600, () => measure(bench, mechanism, isHeld));
      const of = (what: string, value: number, unit: string) =>
        told(`mechanism_${index}_${isHeld ? 'held' : 'free'}_${what}`, `${name}: ${what}`, value, unit);
      const [fromMark, fromFirst] = cost.lookPages;
      measured.push(
        of('pages a delivery, of the last third', cost.pages, ''),
        of('claim p50, of the last third', cost.claimMs, 'ms'),
        of('PostgreSQL for 10,000', cost.cpuS, 's'),
        of('arrivals, lanes and what is pending', cost.hotMiB, 'MiB'),
        of('pages of a look from the due mark on', fromMark, ''),
        of('pages of a look from the first lane on', fromFirst, ''),
      );
    }
  }
  return measured;
}

export const mechanisms: Figure = {
  id: 'mechanisms',
  about: 'the hot path with each of its mechanisms taken out, with and without a snapshot that is held open',
  run,
};
