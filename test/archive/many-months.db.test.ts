/** Pages of attempts and deliveries over six removed months: each attempt once, in order, out of few files. */
import { setImmediate } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { Archives } from '../../src/archive/archived-rows.ts';
import { eraseInMonths } from '../../src/archive/erase-months.ts';
import { type MonthAct, readMonth } from '../../src/archive/acts.ts';
import { carryMonth, removeMonth, restoreMonth } from '../../src/archive/move-month.ts';
import { ArchiveFault } from '../../src/archive/archive-fault.ts';
import { openPlace, type Place } from '../../src/archive/place.ts';
import { verifyMonth } from '../../src/archive/verify-month.ts';
import { archiveMonth } from '../../src/archive/write-month.ts';
import type { Filters } from '../../src/audit/lists/kind.ts';
import { KINDS } from '../../src/audit/lists/kinds.ts';
import type { Page, Row } from '../../src/audit/lists/list.ts';
import { readWithRemoved } from '../../src/audit/lists/removed.ts';
import { sealAll } from '../../src/audit/seals/sealer.ts';
import { backdateSeals } from '../support/backdated-seals.ts';
import { createTestDatabase, openPool } from '../support/database.ts';
import { createLogin } from '../support/logins.ts';
import { commitEvents, insertSubscriber } from '../support/outbox.ts';
import { untilSettled } from '../support/settled.ts';
import { makeTestFolder } from '../support/test-folder.ts';

const MONTHS = ['2025-08', '2025-09', '2025-10', '2025-11', '2025-12', '2026-01'];

const database = await createTestDatabase();
const { sql, pool } = database;
const folder = await makeTestFolder();
const usual = await insertSubscriber(sql);
const old = await insertSubscriber(sql);
const twice = await insertSubscriber(sql);
for (const [index, month] of MONTHS.entries()) {
  const at = new Date(`${month}-20T12:00:00Z`);
  await commitEvents(sql, usual.partnerId, 3);
  if (index === 0) await commitEvents(sql, old.partnerId, 1);
  // The months at which a look from either end stops.
  if (index === 1 || index === 4) await commitEvents(sql, twice.partnerId, 1);
  await sql`
    with ended as (
      update deliveries set status = 'entregue', attempts = 1, failures = 0, next_attempt_at = null, finished_at = ${at}
      where status = 'pendente' returning *
    )
    insert into attempts (delivery_id, number, event_id, webhook_id, partner_id, outcome, status_code, started_at, duration_ms, url, claim,
                          answer, recorded_at)
    select id, 1, event_id, webhook_id, partner_id, 'entregue', 200, ${at}, 1, 'https://partner.example/', 'p/1',
           case when partner_id <> ${twice.partnerId} then E'HTTP/1.1 200\\n\\nobrigado' end, ${at}::timestamptz + row_number() over (order by id) * interval '1 second' from ended`;
  await untilSettled(sql);
  const [{ seals }] = await sql<[{ seals: number }]>`select count(*)::int as seals from seals`;
  await sealAll(pool);
  await backdateSeals(pool, at, seals);
}

let opened = new Set<string>();
const open = (name: string): Place => {
  const place = openPlace(name, null);
  const read: Place['read'] = (file, most) => {
    if (file.includes('attempts')) opened.add(file);
    return place.read(file, most);
  };
  return { ...place, read };
};
const archives = new Archives(pool, open);

type Asked = Partial<Pick<Page, 'from' | 'until' | 'order'>> & {
  readonly filters?: Filters;
  readonly kind?: 'tentativas' | 'entregas';
};

/** All rows of a search, how many pages they took, and the most files that one page opened. */
async function readAll({ kind = 'tentativas', ...asked }: Asked, removed = archives, seesCpf = true) {
  const search = {
    filters: {},
    from: null,
    until: null,
    order: 'newest first',
    limit: 2,
    cut: null,
    ...asked,
  } as const;
  const rows: Row[] = [];
  let [pages, files] = [0, 0];
  for (let after: readonly string[] | null = null; pages === 0 || after !== null; pages += 1) {
    opened = new Set();
    const found = await readWithRemoved(pool, KINDS[kind], { ...search, after }, seesCpf, removed);
    rows.push(...found.rows);
    files = Math.max(files, opened.size);
    after = found.next;
  }
  return { rows, pages, files };
}

const searches: readonly {
  readonly of: string;
  readonly asked: Asked;
  readonly rows: number;
  readonly files: number;
}[] = [
  { of: 'all', asked: {}, rows: 21, files: 2 },
  { of: 'one partner', asked: { filters: { parceiro_id: usual.partnerId } }, rows: 18, files: 2 },
  { of: 'a partner of the oldest month alone', asked: { filters: { parceiro_id: old.partnerId } }, rows: 1, files: 4 },
  { of: 'a webhook of the oldest month alone', asked: { filters: { webhook_id: old.id } }, rows: 1, files: 4 },
  { of: 'a partner of two months', asked: { filters: { parceiro_id: twice.partnerId } }, rows: 2, files: 4 },
  {
    of: 'one partner and outcome',
    asked: { filters: { parceiro_id: usual.partnerId, resultado: 'entregue' } },
    rows: 18,
    files: 4,
  },
  { of: 'all deliveries', asked: { kind: 'entregas' }, rows: 21, files: 0 },
  {
    of: 'deliveries of the oldest month alone',
    asked: { kind: 'entregas', filters: { parceiro_id: old.partnerId } },
    rows: 1,
    files: 0,
  },
  { of: 'an outcome that there is none of', asked: { filters: { resultado: 'erro_tls' } }, rows: 0, files: 4 },
  {
    of: 'one month',
    asked: { from: new Date('2025-10-01T03:00:00Z'), until: new Date('2025-11-01T03:00:00Z') },
    rows: 3,
    files: 1,
  },
];
const orders = ['newest first', 'oldest first'] as const;
const cases = searches.flatMap((search) =>
  orders.map((order) => ({ of: search.of, rows: search.rows, files: search.files, order, asked: search.asked })),
);
const before = await Promise.all(cases.map(async ({ asked, order }) => (await readAll({ ...asked, order })).rows));

for (const month of MONTHS) {
  const moving = { pool, openPlace: open, month, actor: 'test', reason: null };
  await archiveMonth({ ...moving, place: open(folder.path), signers: [] });
  await removeMonth(moving, async () => {
    await untilSettled(sql);
    await sealAll(pool);
  });
}

test.each(cases)(
  '$of, $order, are those from before the removal, and a page opens at most $files files',
  async (one) => {
    const { rows: found, files } = await readAll({ ...one.asked, order: one.order });
    expect(found).toEqual(before[cases.indexOf(one)]);
    expect([found.length, files <= one.files]).toEqual([one.rows, true]);
  },
);

test('a place that was away is asked again for a manifest', async () => {
  let isAway = true;
  const back = new Archives(pool, (name) => {
    const place = open(name);
    return { ...place, read: (...which) => (isAway ? Promise.reject(new ArchiveFault('away')) : place.read(...which)) };
  });
  await expect(readAll({}, back)).rejects.toThrow('away');
  isAway = false;
  expect((await readAll({}, back)).rows).toHaveLength(21);
});

test('a file is compared with its digest before a byte of it is parsed, and read up to its own size', async () => {
  const strange = new Archives(pool, (name) => {
    const place = open(name);
    // As if somebody had put a file of his own there, which is no Parquet at all.
    const read: Place['read'] = async (file, most) => {
      return file.endsWith('.parquet') ? Buffer.alloc(most, 'PAR1') : place.read(file, most);
    };
    return { ...place, read };
  });
  await expect(readAll({}, strange)).rejects.toThrow(/\.parquet was altered: its SHA-256 is another$/);
  const longer = new Archives(pool, (name) => {
    const place = open(name);
    return { ...place, read: (file, most) => place.read(file, file.endsWith('.parquet') ? most - 1 : most) };
  });
  await expect(readAll({}, longer)).rejects.toThrow(/\.parquet cannot be read: it has \d+ bytes, more than \d+$/);
});

test('an answer that was forgotten since is in no page, neither for an auditor who may see CPFs nor for one who may not', async () => {
  await sql`update events set commitment = sha256('x'), salt = null where partner_id in (${old.partnerId}, ${twice.partnerId})`;
  const { url } = await createLogin(database, 'carteiro_auditor');
  const masked = openPool(url, { max: 2 });
  for (const reader of [pool, masked]) {
    const removed = new Archives(reader, open);
    const answers = async ({ partnerId }: { readonly partnerId: string }) => {
      const { rows } = await readAll({ filters: { parceiro_id: partnerId } }, removed, reader === pool);
      return rows.map(({ resposta }) => resposta);
    };
    // Where there was no answer, none was taken away.
    expect([await answers(old), await answers(twice)]).toEqual([['apagado'], [null, null]]);
  }
});

test('looks into files take turns, however many are at once; a turn that comes too late is none', async () => {
  let [now, most] = [0, 0];
  const crowded = new Archives(pool, (name) => {
    const place = open(name);
    const read: Place['read'] = async (file, size) => {
      if (!file.endsWith('.parquet')) return place.read(file, size);
      now += 1;
      most = Math.max(most, now);
      await setImmediate();
      const found = await place.read(file, size);
      now -= 1;
      return found;
    };
    return { ...place, read };
  });
  const ids = (await readAll({ kind: 'entregas' })).rows.map(({ id }) => id as string);
  const found = await Promise.all(ids.map((id) => crowded.delivery(id)));
  expect([ids.length, found.includes(null), most]).toEqual([21, false, 2]);
  const hour = performance.now() + 3_600_000;
  const slow = new Archives(
    pool,
    meanwhile(async () => vi.spyOn(performance, 'now').mockReturnValue(hour)),
  );
  const late = await Promise.allSettled(ids.map((id) => slow.delivery(id)));
  vi.restoreAllMocks();
  const faults = late.flatMap((one) => (one.status === 'rejected' ? [String(one.reason)] : []));
  expect(faults.length).toBeGreaterThan(0);
  for (const fault of faults)
    expect(fault).toMatch(/^ArchiveFault: .+ cannot be read: too many wait for archived months$/);
});

const unerased = () => sql<[{ id: string }, { id: string }]>`
  select id from events where partner_id = ${usual.partnerId} and id not in (select unnest(event_ids) from erasure_pages) order by id limit 2`;

/** An order to erase an event that is done. */
const order = (id: string) => sql`
  with ordered as (
    insert into erasure_orders (actor, reason, events, pages) values ('test', 'test', 1, 1) returning id
  ),
  listed as (
    insert into erasure_pages (order_id, number, event_ids, remains) select id, 1, array[${id}::uuid], array[''::bytea] from ordered
  )
  insert into erasures (order_id, done_at) select id, clock_timestamp() from ordered`;

/** The same place; does something else before the first part of a file is read. */
function meanwhile(work: () => Promise<unknown>): typeof open {
  let isDone = false;
  return (name) => {
    const place = open(name);
    const read: Place['read'] = async (file, most) => {
      const isFirst = !isDone && file.endsWith('.parquet');
      isDone ||= isFirst;
      if (isFirst) await work();
      return place.read(file, most);
    };
    return { ...place, read };
  };
}

const erase = (openPlace = open) => eraseInMonths({ pool, openPlace, signers: [], actor: 'test' });

test('an order that is done while another is carried into the files is carried into them by the next run', async () => {
  const [first, second] = await unerased();
  await order(first.id);
  expect(await erase(meanwhile(() => order(second.id)))).toEqual([MONTHS[0]]);
  expect(await erase()).toEqual([MONTHS[0]]);
  expect(await erase()).toEqual([]);
});

test('a month that is written anew while its seals are read is no altered one', async () => {
  const [{ id }] = await unerased();
  await order(id);
  const seals = new Archives(pool, meanwhile(erase)).seals();
  expect(await seals.leaves(1)).not.toHaveProperty('fault');
  await seals.close();
});

test('of two runs at once that carry an order into the files, none removes what the other has registered', async () => {
  const [{ id }] = await unerased();
  await order(id);
  const [, month = ''] = MONTHS;
  let others: Promise<string[]> | undefined;
  // The other one works while this one has read the month's manifest, and nothing behind it.
  const late = erase((name) => {
    const place = open(name);
    const read: Place['read'] = async (file, most) => {
      const found = await place.read(file, most);
      if (file.startsWith(month)) await (others ??= erase());
      return found;
    };
    return { ...place, read };
  });
  await expect(late).rejects.toThrow(ArchiveFault);
  expect(await others).toEqual([month]);
  await expect(verifyMonth(pool, open, month)).resolves.toMatchObject({ month });
});

test('an erasure registers no files of a month that was moved, or whose rows came back, meanwhile', async () => {
  const [, month = ''] = MONTHS;
  const other = await makeTestFolder();
  const moving = { pool, openPlace: open, month, actor: 'test', reason: null };
  const state = async () => pool.run(async (tx) => (await readMonth(tx, month)) as MonthAct);
  for (const [index, work] of [() => carryMonth(moving, open(other.path)), () => restoreMonth(moving)].entries()) {
    const [{ id }] = await unerased();
    await order(id);
    await expect(erase(meanwhile(work))).rejects.toThrow(`another run has written ${month} anew`);
    expect(await state()).toMatchObject({ place: other.path, act: ['remocao_concluida', 'restauracao'][index] });
    expect(await erase()).toEqual([month]);
  }
});

test('a restoration ends a removal that is under way, which takes nothing of what came back', async () => {
  const month = MONTHS[3] ?? '';
  const moving = { pool, openPlace: open, month, actor: 'test', reason: null };
  await restoreMonth(moving);
  await archiveMonth({ ...moving, place: open(folder.path), signers: [] });
  const rows = async () =>
    sql`select (select count(*)::int from deliveries) as deliveries, (select count(*)::int from attempts) as attempts`;
  const before = await rows();
  /** Does something before the second look at a table's file, which follows that of the verification. */
  const atSecond = (table: string, work: () => Promise<unknown>) => {
    let looks = 0;
    return (name: string): Place => {
      const place = open(name);
      const read: Place['read'] = async (file, most) => {
        if (file.includes(`/${table}-`)) looks += 1;
        if (file.includes(`/${table}-`) && looks === 2) await work();
        return place.read(file, most);
      };
      return { ...place, read };
    };
  };
  const { promise: attemptsAreBack, resolve: go } = Promise.withResolvers<void>();
  let removal: Promise<unknown> = Promise.resolve();
  const isRemoving = new Promise<void>((resolve) => {
    const waiting = atSecond('attempts', async () => {
      resolve();
      await attemptsAreBack;
    });
    removal = removeMonth({ ...moving, openPlace: waiting }, async () => {
      await untilSettled(sql);
      await sealAll(pool);
    }).catch((error: unknown) => error);
  });
  await isRemoving;
  const waiting = atSecond('deliveries', async () => {
    go();
    expect(await removal).toMatchObject({ message: `the month ${month} is not being removed` });
  });
  await restoreMonth({ ...moving, openPlace: waiting });
  expect(await rows()).toEqual(before);
});

test('nothing is removed while another act is being registered', async () => {
  const remove = () =>
    pool.transaction(async (tx) => {
      await tx`set local lock_timeout = '50ms'`;
      await tx`select remove_archived(${MONTHS[3] ?? ''}, '{}', '{}', '{}', '{}')`;
    });
  await pool.transaction(async (tx) => {
    await tx`select pg_advisory_xact_lock(advisory_lock('archiving'))`;
    await expect(remove()).rejects.toMatchObject({ code: '55P03' });
  });
});
