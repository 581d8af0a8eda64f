/** A worker is forgotten after a month went to its files: real commands, from the order to the last file. */
import { randomBytes } from 'node:crypto';
import { copyFile, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { sealAll } from '../../src/audit/seals/sealer.ts';
import { eraseInMonths } from '../../src/archive/erase-months.ts';
import { openPlace } from '../../src/archive/place.ts';
import { jsonRow, readRows } from '../../src/archive/read-table.ts';
import { startApi, type TestApi } from '../support/api.ts';
import { backdateSeals } from '../support/backdated-seals.ts';
import { callCommand, sandboxOn } from '../support/command.ts';
import { CPF, leadMarkedWorker } from '../support/marked-worker.ts';
import { untilSettled } from '../support/settled.ts';
import { makeTestFolder, type TestFolder } from '../support/test-folder.ts';

const MONTH = '2026-01';

let api: TestApi;
let folder: TestFolder;
let env: Record<string, string>;
const at = (name = '') => path.join(folder.path, 'archive', MONTH, name);

beforeAll(async () => {
  folder = await makeTestFolder();
  api = await startApi({ allowInsecure: true, testWaitMs: 1 });
  await leadMarkedWorker(api);
  await untilSettled(api.database.sql);
  await sealAll(api.database.pool);
  await backdateSeals(api.database.pool, new Date('2026-01-20T12:00:00Z'));
  const keyFile = path.join(folder.path, 'worker.key');
  await writeFile(keyFile, randomBytes(32).toString('base64'), { mode: 0o600 });
  env = {
    ...sandboxOn(api.database.url),
    DATA_DIR: folder.path,
    LOG_LEVEL: 'warn',
    WORKER_KEY_FILE: keyFile,
    KEEP_MONTHS: '2',
    ARCHIVE_TO: path.join(folder.path, 'archive'),
  };
});

/** The texts of every file of the month, by table, and where the worker stands in them. */
async function readTexts() {
  const rows: Record<string, unknown>[] = [];
  for (const name of (await readdir(at())).filter((file) => file.endsWith('.parquet'))) {
    const { table, oids, rows: found } = await readRows(new Uint8Array(await readFile(at(name))).buffer);
    for (const row of found) rows.push({ table, ...jsonRow(table, oids, row) });
  }
  const isMarked = (row: object) => /MARCADA/.test(JSON.stringify(row)) || JSON.stringify(row).includes(CPF);
  return { rows, marked: rows.filter(isMarked).map(({ table }) => table as string) };
}

const manifests = async () => (await readdir(at())).filter((file) => file.startsWith('manifesto'));

async function done(words: readonly string[]): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await callCommand(words, env);
  expect([words, code, stderr]).toEqual([words, 0, '']);
  return JSON.parse(stdout) as Record<string, unknown>;
}

/** But for the times of rows, which the test's seals lie behind. */
async function findings(): Promise<unknown[]> {
  const { stdout } = await callCommand(['audit', 'verify'], env);
  return (JSON.parse(stdout) as { achados: { tipo: string }[] }).achados.filter(
    (one) => one.tipo !== 'hora_fora_do_selo',
  );
}

test('worker erase writes the month again without the texts, and the tree stays whole', async () => {
  const { sql } = api.database;
  const [late] = await sql<[{ id: string }]>`
    select delivery_id as id from attempts where answer like '%MARCADA%' limit 1`;
  await sql`create table late as select * from attempts where delivery_id = ${late.id}`;
  const { meses } = (await done(['maintain'])) as { meses: { linhas: number }[] };
  expect(meses).toHaveLength(1);
  const before = await readTexts();
  expect(new Set(before.marked)).toEqual(new Set(['events', 'attempts']));
  const names = await readdir(at());
  for (const name of names) await copyFile(at(name), path.join(folder.path, name));

  await sql`insert into scheduled_jobs (name, schedule, next_at) values ('maintain', '30 4 * * *', now() + interval '9 hours')`;
  // A report of a later month, whose delivery has gone.
  await sql`
    insert into attempts (delivery_id, number, event_id, webhook_id, partner_id, outcome, status_code, started_at,
                          duration_ms, target, url, address, key_id, claim, answer, body_digest)
    select delivery_id, 9, event_id, webhook_id, partner_id, outcome, status_code, started_at,
           duration_ms, target, url, address, key_id, claim, answer, body_digest
    from late limit 1`;
  // Somebody passes the order off as looked for in the files: it is told where they are verified.
  await sql.unsafe(`create function passed() returns trigger language plpgsql as $$ begin new.looked_to := 1; return new; end $$;
    create trigger passed before update on erasures for each row execute function passed()`);
  const words = ['worker', 'erase', CPF, '--reason', 'pedido do titular', '--order', '1-2026', '--json'];
  expect(await done(words)).toMatchObject({ done: true, archived: [] });
  const reported = await callCommand(['archive', 'verify', MONTH], env);
  expect([reported.code, reported.stderr]).toEqual([
    1,
    expect.stringMatching(/texts of workers who were erased: run maintain/),
  ]);
  await sql`drop function passed cascade`;
  await sql`update erasures set looked_to = null`;
  expect(await done(['maintain'])).toMatchObject({ reescritos: [MONTH] });
  expect(await sql`select next_at <= now() as due from scheduled_jobs where name = 'maintain'`).toEqual([
    { due: true },
  ]);
  const after = await readTexts();
  expect(await sql`select answer, salt from attempts where number = 9`).toEqual([{ answer: null, salt: null }]);
  await sql`delete from attempts where number = 9`;
  await sql`drop table late`;
  expect([after.marked, after.rows.length]).toEqual([[], before.rows.length]);
  // Left out where its event's hash stands in the same part, and kept elsewhere: an erasure changes neither.
  const digestsOf = ({ rows }: typeof after) => new Set(rows.map(({ body_digest: digest }) => digest));
  expect(digestsOf(after)).toEqual(digestsOf(before));
  expect(digestsOf(after)).toContain('\\x');
  expect(await findings()).toEqual([]);
  await done(['archive', 'verify', MONTH]);
  const [manifest = '', ...others] = await manifests();
  expect(others).toEqual([]);
  expect(JSON.parse(await readFile(at(manifest), 'utf8'))).toMatchObject({
    motivo: expect.stringMatching(/^apagamento 0/),
  });

  // As if the run had been killed before it took the older files away.
  for (const name of names) await copyFile(path.join(folder.path, name), at(name));
  expect(await done(['maintain'])).toMatchObject({ meses: [], reescritos: [] });
  expect(await manifests()).toEqual([manifest]);
  expect((await readTexts()).rows).toHaveLength(before.rows.length);
});

test('what comes back has no text either, and every seal still holds', async () => {
  await done(['archive', 'restore', MONTH, '--reason', 'teste']);
  expect(
    await api.database.sql`select from attempts where answer like '%MARCADA%' or answer like ${`%${CPF}%`}`,
  ).toEqual([]);
  expect(await findings()).toEqual([]);
});

test('a month is archived whose worker was forgotten before, with nothing in the place of the texts', async () => {
  await done(['archive', MONTH, '--to', path.join(folder.path, 'archive')]);
  await done(['archive', 'verify', MONTH]);
  const { rows, marked } = await readTexts();
  const erased = rows.filter(({ table, salt }) => table === 'events' && salt === null);
  expect([marked, erased.length > 0, new Set(erased.map(({ body }) => body))]).toEqual([[], true, new Set([null])]);
  expect(await done(['maintain'])).toMatchObject({ meses: [{ mes: MONTH }] });
  expect(await findings()).toEqual([]);
});

test('an order is looked for once in the files of a month, and again in files that are written later', async () => {
  const { sql, pool } = api.database;
  const [{ event }] = await sql<[{ event: string }]>`select id as event from events order by id limit 1`;
  // Of an event whose text is in no file any more.
  await sql`
    with ordered as (
      insert into erasure_orders (actor, reason, events, pages) values ('teste', 'teste', 1, 1) returning id
    ),
    listed as (
      insert into erasure_pages (order_id, number, event_ids, remains) select id, 1, array[${event}::uuid], array[''::bytea] from ordered
    )
    insert into erasures (order_id, done_at) select id, now() from ordered`;
  const look = async () => {
    let files = 0;
    const counting = (name: string) => {
      const place = openPlace(name, null);
      const read = (file: string, most: number) => {
        if (file.endsWith('.parquet')) files += 1;
        return place.read(file, most);
      };
      return { ...place, read };
    };
    expect(await eraseInMonths({ pool, openPlace: counting, signers: [], actor: 'teste' })).toEqual([]);
    return files;
  };
  expect(await look()).toBeGreaterThan(0);
  expect(await look()).toBe(0);
  await sql`
    insert into archive_acts (act, month, first_seal, last_seal, place, manifest, deliveries, rows, actor)
    select act, month, first_seal, last_seal, place, manifest, deliveries, rows, actor from archive_acts order by position desc limit 1`;
  expect(await look()).toBe(0);
  // As if the month had been written by a run that read its rows before the order was done.
  await sql`update erasures set looked_to = (select min(position) from archive_acts)`;
  expect(await look()).toBeGreaterThan(0);
});
