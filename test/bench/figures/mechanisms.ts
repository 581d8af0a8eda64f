/**
 * What each mechanism of the hot path buys, in a run in which its enemy appears, as it is and with the mechanism taken out. All
 * figures are counts: pages that the session that claims looked at for a turn, of the last fifth of the turns, or pages that
 * tables and indexes take in the end. So they do not depend on how busy the machine is. src/delivery/README.md has the table.
 */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { insertBacklog } from '../backlog.ts';
import { createDatabase, insertWebhooks } from '../carteiro.ts';
import { type Bench, type Figure, type Measured, told } from '../figure.ts';
import { connect, type Server } from '../harness/server.ts';
import { countPages, openTurns } from '../turns.ts';
import { pathsOf } from '../workload.ts';

const DATABASE = 'mechanisms';
const FUNCTIONS = path.resolve(import.meta.dirname, '../../../drizzle/functions');
/** A quick run is this many times as short. */
const QUICKER = 20;
const SAMPLED = 1_000_000;

interface Life {
  readonly what: string;
  readonly webhooks: number;
  readonly turns: number;
  /** So many deliveries of the first webhook are due before the first turn. */
  readonly backlog?: number;
  /** What a turn brings: an event for the webhooks in turn, or one for each of them. */
  readonly brings?: 'one' | 'each';
  /** A snapshot is held open from the start on. */
  readonly isHeld?: boolean;
  /** Turns are this far apart, by the clock that they are given. */
  readonly apartMs?: number;
}

const LIVES = {
  held: {
    what: '3,000 events of 10 webhooks in 5 minutes, beside a held snapshot',
    webhooks: 10,
    turns: 3_000,
    brings: 'one',
    isHeld: true,
    apartMs: 100,
  },
  flow: { what: '60,000 events of 100 webhooks, no snapshot held', webhooks: 100, turns: 600, brings: 'each' },
  backlog: { what: '100,000 due of one webhook, at most 64 in flight', webhooks: 1, turns: 50, backlog: 100_000 },
} as const satisfies Record<string, Life>;

/** What is counted: pages a turn, or the pages of these relations. */
type Count = 'a turn' | readonly string[];

/** One mechanism, the run that shows it, and how it is taken out. */
interface Mechanism {
  readonly name: string;
  readonly life: keyof typeof LIVES;
  readonly count: Count;
  /** In functions' files: texts, and what stands in their place. */
  readonly rewrites?: readonly (readonly [file: string, find: string, put: string])[];
  readonly statement?: string;
  readonly isWithout?: 'mark' | 'cleaner';
}

const MECHANISMS: readonly Mechanism[] = [
  {
    name: 'scan_from',
    life: 'held',
    count: 'a turn',
    rewrites: [
      ['find_due.sql', 'and d.next_attempt_at between l.scan_from and moment', 'and d.next_attempt_at <= moment'],
      ['rearm_lanes.sql', 'and d.next_attempt_at >= l.scan_from and', 'and'],
      ['state_of_lane.sql', 'd.next_attempt_at between l.scan_from and', 'd.next_attempt_at <='],
    ],
  },
  {
    name: 'next_scan_from',
    life: 'flow',
    count: ['deliveries_due'],
    rewrites: [
      ['rearm_lanes.sql', 'least(l.next_scan_from, s.first_due,', 'least(s.first_due,'],
      ['claim_named.sql', 'least(l.next_scan_from, state.first_due,', 'least(state.first_due,'],
    ],
  },
  {
    name: 'flying_to',
    life: 'backlog',
    count: 'a turn',
    rewrites: [['state_of_lane.sql', 'between l.scan_from and greatest(l.flying_to, until)', '>= l.scan_from']],
  },
  {
    name: 'no unique key of lanes',
    life: 'held',
    count: 'a turn',
    statement: 'create unique index lanes_one on lanes (webhook_id)',
  },
  {
    name: 'the remembered snapshot',
    life: 'held',
    count: 'a turn',
    rewrites: [
      ['arrivals_taken.sql', "coalesce(nullif(current_setting('carteiro.taken', true), ''), '1:1:')", "'1:1:'"],
    ],
  },
  { name: 'the due mark', life: 'held', count: 'a turn', isWithout: 'mark' },
  {
    name: 'the cleaner',
    life: 'flow',
    count: ['arrivals', 'arrivals_by_tx', 'lanes', 'lanes_due', 'lanes_newest'],
    isWithout: 'cleaner',
  },
];

async function takeOut(server: Server, { rewrites, statement }: Partial<Mechanism>): Promise<void> {
  for (const [file, find, put] of rewrites ?? []) {
    const source = await readFile(path.join(FUNCTIONS, file), 'utf8');
    if (!source.includes(find)) throw new Error(`${file} has no longer: ${find}`);
    await server.on(DATABASE, (sql) => sql.unsafe(source.replaceAll(find, put)));
  }
  if (statement !== undefined) await server.on(DATABASE, (sql) => sql.unsafe(statement));
}

type Counts = ReadonlyMap<Count, number>;

async function sizeOf(server: Server, relations: readonly string[]): Promise<number> {
  const [row] = await server.on(
    DATABASE,
    (sql) => sql<[{ pages: number }]>`
      select (sum(pg_relation_size(name::regclass)) / 8192)::float8 as pages
      from unnest(${relations as string[]}::text[]) as each (name)`,
  );
  return row.pages;
}

/** Lives `life` on a database of its own, without `mechanism` if one is given. */
async function live({ server, receiver, isQuick }: Bench, life: Life, mechanism: Partial<Mechanism>): Promise<Counts> {
  const url = await createDatabase(server, DATABASE);
  const webhooks = await server.on(DATABASE, (sql) => insertWebhooks(sql, receiver.url, pathsOf(life.webhooks, 'm')));
  await takeOut(server, mechanism);
  const holder = connect(url);
  const { isWithout } = mechanism;
  const session = await openTurns(url, {
    ...life,
    webhooks,
    hasMark: isWithout !== 'mark',
    isCleaned: isWithout !== 'cleaner',
  });
  const part = isQuick ? 1 / QUICKER : 1;
  const fifth = (life.turns * part) / 5;
  const [first] = webhooks;
  try {
    if (life.isHeld) {
      await holder`begin isolation level repeatable read`;
      await holder`select count(*) from lanes`;
    }
    if (life.backlog && first) {
      const count = life.backlog * part;
      await server.on(DATABASE, (sql) => insertBacklog(sql, first, count));
    }
    for (let turn = 0; turn < 4 * fifth; turn += 1) await session.turn();
    const before = await session.pages();
    for (let turn = 0; turn < fifth; turn += 1) await session.turn();
    const counts = new Map<Count, number>([['a turn', ((await session.pages()) - before) / fifth]]);
    for (const { count } of MECHANISMS) if (count !== 'a turn') counts.set(count, await sizeOf(server, count));
    return counts;
  } finally {
    await Promise.all([session.close(), holder.end({ timeout: 5 })]);
    await server.drop(DATABASE);
  }
}

/** Pages that ANALYZE of a large table reads beside its snapshot, with the product's samples and with PostgreSQL's. */
async function sample({ server, receiver, isQuick }: Bench): Promise<readonly [number, number]> {
  const url = await createDatabase(server, DATABASE);
  try {
    await server.on(DATABASE, async (sql) => {
      const [webhook] = await insertWebhooks(sql, receiver.url, pathsOf(1, 'm'));
      if (webhook) await insertBacklog(sql, webhook, isQuick ? SAMPLED / QUICKER : SAMPLED);
    });
    const analyze = () => countPages(url, (sql) => sql`analyze events`);
    const small = await analyze();
    await server.on(DATABASE, async (sql) => {
      const columns = await sql<{ name: string }[]>`
        select attname as name from pg_attribute
        where attrelid = 'events'::regclass and attnum > 0 and not attisdropped and attgenerated <> 'v'`;
      for (const { name } of columns) await sql`alter table events alter column ${sql(name)} set statistics default`;
    });
    return [small, await analyze()];
  } finally {
    await server.drop(DATABASE);
  }
}

async function run(bench: Bench): Promise<Measured[]> {
  const measured: Measured[] = [];
  const tell = (id: string, name: string, what: string, [asIs, without]: readonly [number, number]) => {
    measured.push(
      told(`mechanism_${id}`, `${name}: ${what}`, asIs, 'pages'),
      told(`mechanism_${id}_without`, '… without it', without, 'pages'),
    );
  };
  const asTheyAre = new Map<Life, Counts>();
  for (const [index, mechanism] of MECHANISMS.entries()) {
    const { name, count } = mechanism;
    const life: Life = LIVES[mechanism.life];
    const asIs =
      asTheyAre.get(life) ?? (await bench.progress.phase(`as it is: ${life.what}`, 600, () => live(bench, life, {})));
    asTheyAre.set(life, asIs);
    const without = await bench.progress.phase(`${name}, taken out`, 600, () => live(bench, life, mechanism));
    const what = `${count === 'a turn' ? 'a turn' : count.join(', ')}, ${life.what}`;
    tell(String(index), name, what, [asIs.get(count) ?? Number.NaN, without.get(count) ?? Number.NaN]);
  }
  const samples = await bench.progress.phase('small samples', 300, () => sample(bench));
  tell('samples', 'small samples', 'read by ANALYZE of 1,000,000 events', samples);
  return measured;
}

export const mechanisms: Figure = {
  id: 'mechanisms',
  about: 'each mechanism of the hot path, in a run in which its enemy appears, as it is and without it',
  run,
};
