/** Events of loans that are over leave with their months, and come back for whoever needs them: real commands, a partner, an auditor. */
import { randomBytes } from 'node:crypto';
import { readdir, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Archives, type ArchiveReads } from '../../src/archive/archived-rows.ts';
import { leave } from '../../src/archive/leave.ts';
import { restoreMonth } from '../../src/archive/move-month.ts';
import { openPlace } from '../../src/archive/place.ts';
import { verifySeals } from '../../src/audit/seals/verify.ts';
import { sealAll } from '../../src/audit/seals/sealer.ts';
import { decideAndAppend, handleLoan } from '../../src/core/loans/handle-loan.ts';
import type { LoanState } from '../../src/loan/state.ts';
import type { Provenance } from '../../src/log/append.ts';
import { readsOf } from '../../src/main/service/archives.ts';
import { issueLoanAt, REQUEST } from '../core/loan-world.ts';
import { backdateSeals } from '../support/backdated-seals.ts';
import { callCommand, sandboxOn } from '../support/command.ts';
import { type DeliveryWorld, startDeliveryWorld } from '../support/delivery-world.ts';
import { createLogin } from '../support/logins.ts';
import { untilSettled } from '../support/settled.ts';
import { makeTestFolder } from '../support/test-folder.ts';

const MONTH = '2026-01';
const THEN = new Date('2026-01-10T12:00:00Z');
const NOTHING = { meses: [], reescritos: [], chaves: 0, emprestimos: 0 };

let world: DeliveryWorld;
let env: Record<string, string>;
let partner: Provenance;
let token: string;
let auditor: string;
/** Two loans that were over in the month, and one that goes on. */
let over: LoanState;
let other: LoanState;
let open: LoanState;
let archive: string;

const db = () => world.api.database;
const archives = () => new Archives(db().pool, (name) => openPlace(name, null));

/** Every stored column of every event. */
async function rows(where = 'true'): Promise<string> {
  const [row] = await db().sql.unsafe<[{ rows: string }]>(
    `select string_agg(row_to_json(e)::text || encode(record_send(e), 'hex'), ';' order by stream, version) as rows from events e where ${where}`,
  );
  return row.rows;
}

const eventsOf = async (id: string) =>
  (await db().sql<[{ count: number }]>`select count(*)::int as count from events where stream = ${id}`)[0].count;
const awayNow = async () =>
  (await db().sql<{ id: string }[]>`select id from loans where away_digest is not null order by id`).map(
    ({ id }) => id,
  );

async function done(words: readonly string[], more: Record<string, string> = {}): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await callCommand(words, { ...env, ...more });
  expect([words, code, stderr]).toEqual([words, 0, '']);
  return JSON.parse(stdout) as Record<string, unknown>;
}

async function findings(): Promise<unknown[]> {
  const { stdout } = await callCommand(['audit', 'verify'], env);
  const { achados } = JSON.parse(stdout) as { achados: { tipo: string }[] };
  return achados.filter(({ tipo }) => tipo !== 'hora_fora_do_selo');
}

/** Has maintain look at all loans again, as the next month's removal does. */
async function leaveAgain(): Promise<void> {
  for (const stream of await awayNow()) await archives().bringBack('stream', stream);
  await db().sql`update projections set position = 0 where name = 'leaving'`;
  expect(await done(['maintain'])).toEqual({ ...NOTHING, emprestimos: 2 });
}

const get = (to: string, by = token) => world.api.send<Record<string, unknown>>('GET', to, { token: by });

beforeAll(async () => {
  const folder = await makeTestFolder();
  const reads = () => readsOf(archives());
  const lazily = <K extends keyof ArchiveReads>(name: K) =>
    ((...given: never[]) => (reads()[name] as (...all: never[]) => unknown)(...given)) as ArchiveReads[K];
  world = await startDeliveryWorld({
    archives: {
      delivery: lazily('delivery'),
      deliveriesOf: lazily('deliveriesOf'),
      between: lazily('between'),
      sentOf: lazily('sentOf'),
      months: lazily('months'),
      seals: lazily('seals'),
      bringBack: lazily('bringBack'),
      mend: lazily('mend'),
      leftAfter: lazily('leftAfter'),
    },
  });
  db().pool.mend = async (error) => reads().mend(error);
  const subscriber = await world.subscriber();
  await subscriber.register();
  partner = { partnerId: subscriber.id, actor: 'ação', requestId: null };
  token = await world.api.token(subscriber.id, ['webhooks:read', 'emprestimos:read']);
  auditor = await world.api.token(undefined, ['auditoria:read', 'auditoria:cpf']);
  const ended = async (terms = REQUEST) => {
    const loan = await issueLoanAt(db().pool, partner, THEN, terms);
    const command = {
      type: 'endBond',
      on: '2026-01-09',
      reason: { codigo: '1', descricao: 'pedido "próprio" {"data":' },
    } as const;
    const handled = await db().pool.transaction((tx) => decideAndAppend(tx, partner, loan.id, command, loan, THEN));
    return (handled as { ok: LoanState }).ok;
  };
  over = await ended();
  other = await ended({ ...REQUEST, cpf_trabalhador: '11144477735' });
  open = await issueLoanAt(db().pool, partner, THEN);
  await world.deliver();
  await untilSettled(db().sql);
  await sealAll(db().pool);
  await backdateSeals(db().pool, new Date('2026-01-20T12:00:00Z'));
  const keyFile = path.join(folder.path, 'worker.key');
  await writeFile(keyFile, randomBytes(32).toString('base64'), { mode: 0o600 });
  archive = path.join(folder.path, 'archive');
  env = {
    ...sandboxOn(db().url),
    DATA_DIR: folder.path,
    LOG_LEVEL: 'warn',
    WORKER_KEY_FILE: keyFile,
    KEEP_MONTHS: '2',
    ARCHIVE_TO: archive,
  };
  await done(['worker', 'show', '52998224725', '--json']);
});

describe('maintain', () => {
  let before: string;

  test('takes the events of loans that are over, whole, and nothing of a loan that goes on', async () => {
    before = await rows();
    const [last] = await db().sql<[{ id: string }]>`
      select id from events where stream = ${over.id} order by version desc`;
    const loan = `emprestimos/${over.id}`;
    const paths = [loan, `${loan}?versao=1`, `${loan}/historico`, `eventos/${last.id}`];
    const read = await Promise.all(paths.map(async (to) => (await get(`/v1/${to}`)).body));
    const workers = async () => db().sql`select * from carteiro_auditoria.trabalhadores order by resumo, evento_id`;
    const indexed = await workers();
    expect(await done(['maintain'])).toMatchObject({ meses: [{ mes: MONTH }], emprestimos: 2 });
    expect(await awayNow()).toEqual([over.id, other.id].toSorted());
    expect([await eventsOf(over.id), await eventsOf(other.id), await eventsOf(open.id)]).toEqual([0, 0, 1]);
    expect(await db().sql`select from loans where state is null`).toHaveLength(2);
    expect(await findings()).toEqual([]);
    expect(await done(['rebuild', '--check'])).toMatchObject({ differences: [] });
    expect(await done(['maintain'])).toEqual(NOTHING);
    const after = [];
    for (const to of paths) after.push((await get(`/v1/${to}`)).body);
    for (const index of [0, 1, 3]) expect(after[index]).toEqual(read[index]);
    expect(await awayNow()).toEqual([other.id]);
    expect([await workers(), (await db().sql`select from worker_events`).length < indexed.length]).toEqual([
      indexed,
      true,
    ]);
    await done(['archive', 'recall', other.id]);
    expect(await awayNow()).toEqual([]);
    expect(await rows()).toBe(before);
    expect(await db().sql`select from worker_events`).toHaveLength(indexed.length);
  });
});

describe('a history that is away', () => {
  beforeEach(leaveAgain);

  test('comes back for a rehire, and refuses a core that appends in SQL, saying what brings it back', async () => {
    const { pool, sql } = db();
    const [{ version }] = await sql<[{ version: number }]>`select stream_version(${over.id}) as version`;
    expect(version).toBe(2);
    for (const expected of [0, 1, 2]) {
      const appended = sql`
        select append_event(${over.id}, ${expected}, 'desembolso.falhou', ${partner.partnerId},
          json_build_object('emprestimo_id', ${over.id}::text, 'numero_emprestimo', ${over.number}::text, 'motivo', 'x'), 'core')`;
      await expect(appended).rejects.toMatchObject({ code: 'CT423', hint: expect.stringContaining('archive recall') });
    }
    const line = { stream: over.id, version: 1, type: 'averbacao.solicitada', partner_id: partner.partnerId };
    const past = {
      ...line,
      occurred_at: '2026-01-09T12:00:00.000Z',
      data: { emprestimo_id: over.id, averbacao_id: over.id },
    };
    const imported = sql`select append_history(array[${JSON.stringify(past)}::text::json])`;
    await expect(imported).rejects.toMatchObject({ code: 'CT423' });
    expect(await eventsOf(over.id)).toBe(0);
    const handled = await handleLoan(pool, partner, over.id, () => ({
      type: 'recordNewBond',
      employer: { cnpj: '11444777000161', nome: 'Outra' },
      on: '2026-11-01',
      availableMarginCentavos: 50_000,
      outstandingCentavos: 0,
    }));
    expect(handled).toMatchObject({ ok: { version: 3 } });
    expect([await eventsOf(over.id), await awayNow()]).toEqual([3, [other.id]]);
    await sql`delete from deliveries where event_id = (select id from events where stream = ${over.id} and version = 3)`;
    await sql`delete from pending where event_id = (select id from events where stream = ${over.id} and version = 3)`;
    await sql`delete from events where stream = ${over.id} and version = 3`;
    await sql`update loans set version = 2, state = ${sql.json(JSON.parse(JSON.stringify(over)) as never)} where id = ${over.id}`;
  });

  test('comes back for the partner and for auditors: a delivery, its proof, the events of a loan, a number', async () => {
    const { sql } = db();
    const back = async (to: string, by = token) => {
      const answer = await get(to, by);
      expect([to, answer.status]).toEqual([to, 200]);
      expect([to, await awayNow()]).not.toEqual([to, [over.id, other.id].toSorted()]);
      await sql`update projections set position = 0 where name = 'leaving'`;
      await done(['maintain']);
      return answer.body;
    };
    const [{ times }] = await sql<[{ times: string }]>`
      select encode(away_events, 'hex') as times from loans where id = ${over.id}`;
    const events = await archives().events(times.match(/.{12}/g) ?? []);
    const reported = events.find((event) => event['stream'] === over.id && event['type'] === 'trabalhador.desligado')?.[
      'id'
    ] as string;
    const sent = (await archives().sentOf([reported])).get(reported)?.[0]?.id ?? '';
    expect(await back(`/v1/entregas/${sent}`)).toMatchObject({ evento_id: reported });
    expect(await back(`/v1/entregas/${sent}/prova`)).toMatchObject({ entrega: { id: sent } });
    expect(await back(`/v1/auditoria/entregas/${sent}/prova`, auditor)).toMatchObject({ entrega: { id: sent } });
    expect(await back(`/v1/auditoria/eventos?emprestimo_id=${over.id}`, auditor)).toMatchObject({ itens: [{}, {}] });
    expect(await back(`/v1/auditoria/eventos?evento_id=${reported}`, auditor)).toMatchObject({
      itens: [{ id: reported }],
    });
    expect(await back(`/v1/auditoria/entregas?evento_id=${reported}`, auditor)).toMatchObject({
      itens: [{ id: sent }],
    });
    expect((await get('/v1/eventos/0199aaaa-0000-7000-8000-000000000000')).status).toBe(404);
    const { url } = await createLogin(db(), 'carteiro_auditor');
    const verified = await callCommand(['audit', 'verify'], { ...env, DATABASE_URL: url });
    const { achados } = JSON.parse(verified.stdout) as { achados: { tipo: string }[] };
    expect(achados.filter(({ tipo }) => tipo !== 'hora_fora_do_selo')).toEqual([]);
    const proof = await callCommand(['audit', 'proof', sent], { ...env, DATABASE_URL: url });
    expect([proof.code, proof.stderr]).toEqual([3, expect.stringContaining(`archive recall ${over.id}`)]);
  });

  test('is named where a list has a gap, and a cursor of an event that left goes on', async () => {
    const lacks = async (to: string, by = token) => (await get(to, by)).headers.get('X-Carteiro-Meses-Arquivados');
    expect(await lacks('/v1/eventos')).toBe(MONTH);
    expect(await lacks('/v1/auditoria/eventos', auditor)).toBe(MONTH);
    await done(['archive', 'recall', over.id]);
    await done(['archive', 'recall', other.id]);
    expect(await lacks('/v1/eventos')).toBe(null);
    const { proximo_cursor: cursor } = (await get('/v1/eventos?limite=1')).body;
    await leaveAgain();
    const on = await get(`/v1/eventos?depois=${cursor as string}`);
    expect([on.status, (on.body as { itens?: unknown[] }).itens]).toEqual([200, []]);
    const day = '2026-01-10';
    const refused = await get(`/v1/auditoria/balanco?de=${day}&ate=${day}&recontar=true`, auditor);
    expect([refused.status, refused.text]).toEqual([409, expect.stringContaining(`archive restore ${MONTH}`)]);
  });

  test('is neither lost nor changed, wherever a run is cut short', async () => {
    const { sql } = db();
    await done(['archive', 'recall', over.id]);
    await done(['archive', 'recall', other.id]);
    const before = await rows();
    const ids = (await sql<{ id: string }[]>`select id from events order by id`).map(({ id }) => id);
    const work = async (calls: number) => {
      let left = calls;
      const failing = Object.create(db().pool) as typeof world.api.database.pool;
      failing.run = async (query) => {
        left -= 1;
        if (left < 0) throw new Error('killed');
        return db().pool.run(query);
      };
      const place = (name: string) => openPlace(name, null);
      return leave({ pool: failing, openPlace: place, readEvents: archives().events, before: '2026-09-01' });
    };
    let cut = 0;
    for (let isDone = false; !isDone; cut += 1) {
      await sql`update projections set position = 0 where name = 'leaving'`;
      isDone = await work(cut).then(
        () => true,
        (error: Error) => {
          expect(error.message).toBe('killed');
          return false;
        },
      );
      const inLog = new Set((await sql<{ id: string }[]>`select id from events`).map(({ id }) => id));
      const gone = ids.filter((id) => !inLog.has(id));
      expect((await archives().events(gone)).map((event) => event['id'] as string).toSorted()).toEqual(gone);
      expect(await done(['rebuild', '--check'])).toMatchObject({ differences: [] });
      // Some runs go on from where the one before was cut short, some from the beginning.
      if (cut % 3 === 0) for (const stream of await awayNow()) await archives().bringBack('stream', stream);
      const all = cut % 3 === 0 ? await rows() : before;
      expect(all).toBe(before);
    }
    expect(cut).toBeGreaterThan(6);
    for (const stream of await awayNow()) await archives().bringBack('stream', stream);
    expect(await rows()).toBe(before);
  });

  test('stays where its file is away or has another row: nothing is removed, and nothing wrong is answered', async () => {
    const { sql } = db();
    const file = (await readdir(path.join(archive, MONTH))).find((name) => name.startsWith('events')) ?? '';
    await rename(path.join(archive, MONTH, file), path.join(archive, file));
    expect((await get(`/v1/emprestimos/${over.id}?versao=1`)).status).toBe(503);
    expect((await get(`/v1/emprestimos/${over.id}`)).status).toBe(503);
    await rename(path.join(archive, file), path.join(archive, MONTH, file));
    expect((await get(`/v1/emprestimos/${over.id}?versao=1`)).status).toBe(200);
    await done(['archive', 'recall', other.id]);
    await rename(path.join(archive, MONTH, file), path.join(archive, file));
    await sql`update projections set position = 0 where name = 'leaving'`;
    const away = await callCommand(['maintain'], env);
    expect([away.code, away.stderr]).toEqual([1, expect.stringContaining('it is not there')]);
    expect(await eventsOf(over.id)).toBe(2);
    await rename(path.join(archive, file), path.join(archive, MONTH, file));
    await archives().bringBack('stream', over.id);
    await sql`update events set actor = 'outro' where stream = ${over.id} and version = 2`;
    await sql`update projections set position = 0 where name = 'leaving'`;
    const strange = await callCommand(['maintain'], env);
    expect([strange.code, strange.stderr]).toEqual([
      1,
      expect.stringContaining(`of 1 ended loans, which stay; the first is ${over.id}`),
    ]);
    expect([await eventsOf(over.id), await awayNow()]).toEqual([2, [other.id]]);
    await sql`update events set actor = 'ação' where stream = ${over.id} and version = 2`;
  });

  test('that comes back while audit verify is between its rows and their files is no loss', async () => {
    const seals = archives().seals();
    const { findings: found } = await verifySeals(db().pool, {
      archived: {
        ...seals,
        async leaves(seal) {
          for (const stream of await awayNow()) await archives().bringBack('stream', stream);
          return seals.leaves(seal);
        },
      },
    });
    expect(found.filter(({ tipo }) => tipo !== 'hora_fora_do_selo')).toEqual([]);
    expect(await awayNow()).toEqual([]);
  });

  test('that leaves while audit verify is between their file and its rows is no loss', async () => {
    for (const stream of await awayNow()) await archives().bringBack('stream', stream);
    const seals = archives().seals();
    // What it read of the files before is kept.
    const verified = async () => {
      const archived = { ...seals, close: async () => undefined };
      const { findings: found } = await verifySeals(db().pool, { archived });
      return found.filter(({ tipo }) => tipo !== 'hora_fora_do_selo');
    };
    expect(await verified()).toEqual([]);
    await leaveAgain();
    expect(await verified()).toEqual([]);
    await seals.close();
  });

  test('may be missing, and nothing else: an event of a living loan that somebody removed is found', async () => {
    const { sql } = db();
    await sql`create table kept as select * from events where stream = ${open.id}`;
    await sql`delete from events where stream = ${open.id}`;
    expect(await findings()).toEqual([expect.objectContaining({ tipo: 'linhas_removidas', selo: 1 })]);
    const [{ columns }] = await sql<[{ columns: string }]>`
      select string_agg(quote_ident(attname), ', ') as columns from pg_attribute
      where attrelid = 'events'::regclass and attnum > 0 and attgenerated = ''`;
    await sql.unsafe(
      `insert into events (${columns}) overriding system value select ${columns} from kept; drop table kept`,
    );
    expect(await findings()).toEqual([]);
  });
});

test('the month comes back whole, with the histories that left', async () => {
  await leaveAgain();
  // A run of maintain has the histories leave again while the month comes back, before its deliveries are there.
  let reads = 0;
  const leaving = (name: string) => {
    const place = openPlace(name, null);
    const read = async (file: string, most: number) => {
      const isDeliveries = path.basename(file).startsWith('deliveries');
      if (isDeliveries) reads += 1;
      if (isDeliveries && reads === 2) {
        await db().sql`update projections set position = 0 where name = 'leaving'`;
        await done(['maintain']);
      }
      return place.read(file, most);
    };
    return { ...place, read };
  };
  await restoreMonth({ pool: db().pool, openPlace: leaving, month: MONTH, actor: 'teste', reason: null });
  expect(reads).toBe(2);
  expect([await awayNow(), await eventsOf(over.id), await eventsOf(other.id)]).toEqual([[], 2, 2]);
  expect(await done(['maintain'])).toEqual(NOTHING);
  await done(['archive', MONTH, '--to', archive]);
  expect(await done(['maintain'])).toMatchObject({ meses: [{ mes: MONTH }] });
  await leaveAgain();
});

test('a worker whose loan is away is forgotten, and the loan stays; what is left of it is as sealed', async () => {
  const words = ['worker', 'erase', '52998224725', '--reason', 'pedido do titular', '--order', '1-2026', '--json'];
  expect(await done(words)).toMatchObject({ done: true, archived: [MONTH] });
  expect(await awayNow()).toEqual([other.id]);
  await done(['maintain']);
  expect([await awayNow(), await eventsOf(over.id)]).toEqual([[other.id], 2]);
  expect(await findings()).toEqual([]);
});
