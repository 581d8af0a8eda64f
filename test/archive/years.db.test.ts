/** A month that leaves the database and comes back: real commands move it, a partner and `audit verify` read on. */
import { createHash } from 'node:crypto';
import { readdir, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { sealAll } from '../../src/audit/seals/sealer.ts';
import type { VerifyFinding } from '../../src/audit/seals/compare-rows.ts';
import type { DeliveryAsSent } from '../../src/contract/resources/delivery-resource.ts';
import { addAct, type MonthAct, readMonth } from '../../src/archive/acts.ts';
import { digestOfDeliveries, readManifest, writeFile as writePart, writeManifest } from '../../src/archive/manifest.ts';
import { type TableFile, TableFiles, withoutText } from '../../src/archive/table-file.ts';
import type { Row } from '../../src/db/binary-record.ts';
import { readTable } from '../../src/archive/verify-month.ts';
import { Archives } from '../../src/archive/archived-rows.ts';
import { KINDS } from '../../src/audit/lists/kinds.ts';
import type { Found } from '../../src/audit/lists/list.ts';
import { placeOf } from '../../src/audit/lists/place.ts';
import { readWithRemoved } from '../../src/audit/lists/removed.ts';
import type { Removed } from '../../src/audit/lists/kind.ts';
import { createLogin } from '../support/logins.ts';
import { openPlace } from '../../src/archive/place.ts';
import { restoreMonth } from '../../src/archive/move-month.ts';
import { readsOf } from '../../src/main/service/archives.ts';
import { backdateSeals } from '../support/backdated-seals.ts';
import { callCommand, sandboxOn, startCommand } from '../support/command.ts';
import { type DeliveryWorld, type Registered, startDeliveryWorld, type Subscriber } from '../support/delivery-world.ts';
import { type Page, pagesOf } from '../support/pages.ts';
import { status } from '../support/receiver.ts';
import { untilSettled } from '../support/settled.ts';
import { makeTestFolder, type TestFolder } from '../support/test-folder.ts';

const MONTH = '2026-01';
const NOTHING = { meses: [], reescritos: [], chaves: 0, emprestimos: 0 };

let world: DeliveryWorld;
let partner: Subscriber;
let webhook: Registered;
let folder: TestFolder;
let env: Record<string, string>;
let before: DeliveryAsSent[];
let digest: string;
let evidence: unknown[];
let proofBefore: unknown;
let times: { readonly middle: string; readonly end: string } | undefined;

/** Everything that a month may lose, as one digest. */
async function digestOfRows(): Promise<string> {
  const [row] = await world.api.database.sql<[{ digest: string }]>`
    select md5((select string_agg(d::text, ';' order by id) from deliveries d)
            || (select string_agg((to_jsonb(a) - 'target' || jsonb_build_object(
                                     'url', coalesce(a.url, t.url), 'address', coalesce(a.address, t.address),
                                     'key_id', coalesce(a.key_id, t.key_id)))::text, ';' order by delivery_id, number, late)
                from attempts a left join targets t on t.id = a.target)) as digest`;
  return row.digest;
}

beforeAll(async () => {
  folder = await makeTestFolder();
  // Over the pool that the world makes.
  const reads = () => readsOf(new Archives(world.api.database.pool, (name) => openPlace(name, null)));
  world = await startDeliveryWorld({
    archives: {
      delivery: (id) => reads().delivery(id),
      deliveriesOf: (column, value) => reads().deliveriesOf(column, value),
      between: (table, range) => reads().between(table, range),
      sentOf: (ids) => reads().sentOf(ids),
      months: () => reads().months(),
      seals: () => reads().seals(),
      bringBack: (column, value) => reads().bringBack(column, value),
      mend: (error) => reads().mend(error),
      leftAfter: (cursor) => reads().leftAfter(cursor),
    },
  });
  partner = await world.subscriber();
  webhook = await partner.register();
  const { sql, pool, url } = world.api.database;
  world.receiver.answerWith(status(200, 'obrigado, João 529.982.247-25'), webhook.path);
  for (let count = 0; count < 5; count += 1) await partner.emit();
  await world.deliver();
  world.receiver.answerWith(status(503, 'depois'), webhook.path);
  await partner.emit();
  await world.deliver();
  await untilSettled(sql);
  await sealAll(pool);
  await backdateSeals(pool, new Date('2026-01-20T12:00:00Z'));
  digest = await digestOfRows();
  before = await readAll();
  evidence = await readEvidence();
  proofBefore = (evidence.find((one) => Array.isArray(one) && one[0] === 200) as unknown[])[1];
  env = {
    ...sandboxOn(url),
    DATA_DIR: folder.path,
    LOG_LEVEL: 'warn',
    KEEP_MONTHS: '2',
    ARCHIVE_TO: path.join(folder.path, 'archive'),
  };
});

/** Each delivery that there was at first, as the partner reads it now. */
async function readAll(): Promise<DeliveryAsSent[]> {
  const ids =
    before?.map(({ id }) => id) ??
    (await world.api.database.sql<{ id: string }[]>`select id from deliveries order by id`).map(({ id }) => id);
  return Promise.all(ids.map((id) => partner.read(id)));
}

/** What auditors and the partner are given of the first delivery, but for the moment of the proof. */
async function readEvidence(): Promise<unknown[]> {
  const { api } = world;
  const [{ id, evento_id: event }] = before as [DeliveryAsSent];
  const [{ stream }] = await api.database.sql<[{ stream: string }]>`select stream from events where id = ${event}`;
  const auditor = await api.token(undefined, ['auditoria:read', 'auditoria:cpf']);
  const paths = [
    `/v1/auditoria/entregas/${id}/prova`,
    `/v1/auditoria/entregas/${id}/conferencia`,
    `/v1/auditoria/tentativas?entrega_id=${id}`,
    `/v1/auditoria/tentativas?emprestimo_id=${stream}`,
    `/v1/auditoria/entregas?evento_id=${event}`,
  ];
  const answers = await Promise.all([
    ...paths.map((one) => api.send('GET', one, { token: auditor })),
    partner.send('GET', `/v1/entregas/${id}/prova`),
    partner.send('GET', '/v1/eventos?limite=4'),
    partner.send('GET', `/v1/eventos/${event}`),
  ]);
  const lists = ['', '&status=erro', `&de=2026-01-31T00:00:00Z&webhook_id=${webhook.id}`];
  const listed = await Promise.all([
    ...lists.map((filter) => readPages(`/v1/auditoria/entregas?limite=2${filter}`, auditor)),
    ...(await attemptLists()).map((filter) => readPages(`/v1/auditoria/tentativas?limite=2${filter}`, auditor)),
  ]);
  const filters = ['', `&parceiro_id=${partner.id}`, '&resultado=entregue'];
  const files = await Promise.all(filters.map(async (filter) => readFileOf(filter, auditor)));
  return [
    ...listed,
    ...files,
    ...answers.map(({ status: answered, body }) => [answered, Object.assign(body as object, { gerada_em: null })]),
  ];
}

/** Filters of attempts by time, and by what a walk of the database answers or leaves to be looked at. */
async function attemptLists(): Promise<string[]> {
  const { sql } = world.api.database;
  const [{ middle, end }] = await sql<[{ middle: Date; end: Date }]>`
    select percentile_disc(0.5) within group (order by recorded_at) as middle, max(recorded_at) as end
    from attempts where delivery_id = any (${before.map(({ id }) => id)}::uuid[])`;
  times ??= { middle: middle.toISOString(), end: end.toISOString() };
  return [
    '',
    `&parceiro_id=${partner.id}`,
    `&webhook_id=${webhook.id}`,
    '&resultado=entregue',
    '&resultado=resposta_nao_2xx',
    `&evento=${before[0]?.evento}&resultado=entregue`,
    `&desde=${times.middle}`,
    `&ate=${times.middle}`,
    `&desde=${times.middle}&ate=${times.end}&parceiro_id=${partner.id}`,
  ];
}

/** A CSV of attempts, and what its manifest tells of it. */
async function readFileOf(filter: string, token: string): Promise<unknown[]> {
  const headers = { Authorization: `Bearer ${token}` };
  const file = await world.api.app.request(`/v1/auditoria/tentativas?formato=csv${filter}`, { headers });
  const bytes = await file.text();
  const reported = await world.api.app.request(file.headers.get('X-Carteiro-Manifesto') ?? '', { headers });
  const { linhas, sha256 } = (await reported.json()) as { linhas: number; sha256: string };
  expect(createHash('sha256').update(bytes).digest('hex')).toBe(sha256);
  return [bytes, linhas, sha256];
}

/** All items of an auditors' list, and how many pages they took. */
function readPages(list: string, token: string): Promise<unknown[]> {
  return Array.fromAsync(pagesOf((path) => world.api.send<Page<unknown>>('GET', path, { token }), list));
}

async function count(table: 'deliveries' | 'attempts' | 'events'): Promise<number> {
  const [row] = await world.api.database.sql<[{ count: number }]>`
    select count(*)::int as count from ${world.api.database.sql(table)}`;
  return row.count;
}

/** What `audit verify` finds, and the route as well, but for the times of rows, which the test's seals lie behind. */
async function verify(): Promise<VerifyFinding[]> {
  const { stdout } = await callCommand(['audit', 'verify'], env);
  const { achados } = JSON.parse(stdout) as { achados: VerifyFinding[] };
  const answer = await world.api.app.request('/v1/auditoria/verificacao', {
    method: 'POST',
    headers: { Authorization: `Bearer ${await world.api.token(undefined, ['auditoria:read'])}` },
  });
  expect(await answer.json()).toMatchObject({ achados });
  return achados.filter(({ tipo }) => tipo !== 'hora_fora_do_selo');
}

function isOver(pid: number): boolean {
  try {
    return !process.kill(pid, 0);
  } catch {
    return true;
  }
}

async function restore() {
  return callCommand(['archive', 'restore', MONTH, '--reason', 'teste'], env);
}

describe('maintain', () => {
  test('needs ARCHIVE_TO beside KEEP_MONTHS, and by itself keeps everything', async () => {
    const { KEEP_MONTHS: _, ARCHIVE_TO: __, ...bare } = env;
    const kept = await callCommand(['maintain'], bare);
    expect([kept.code, JSON.parse(kept.stdout)]).toEqual([0, NOTHING]);
    const nowhere = await callCommand(['maintain'], { ...bare, KEEP_MONTHS: '2' });
    expect([nowhere.code, nowhere.stderr]).toEqual([
      2,
      expect.stringContaining('ARCHIVE_TO: is required beside KEEP_MONTHS'),
    ]);
    expect(JSON.parse((await callCommand(['maintain'], { ...env, KEEP_MONTHS: '600' })).stdout)).toEqual(NOTHING);
    expect(await digestOfRows()).toBe(digest);
  });

  test('that finds its place full or away removes nothing', async () => {
    await writeFile(path.join(folder.path, 'file'), '');
    const away = await callCommand(['maintain'], { ...env, ARCHIVE_TO: path.join(folder.path, 'file', 'archive') });
    expect([away.code, away.stderr]).toEqual([1, expect.stringContaining('a part of the path is no directory')]);
    expect(await digestOfRows()).toBe(digest);
  });

  test('archives, verifies and removes an old month; what waits, and every event, stays', async () => {
    const done = await callCommand(['maintain'], env);
    expect([done.code, done.stderr]).toEqual([0, '']);
    expect(JSON.parse(done.stdout)).toEqual({
      ...NOTHING,
      meses: [{ mes: MONTH, linhas: 10 }],
    });
    expect([await count('deliveries'), await count('attempts'), await count('events')]).toEqual([1, 1, 6]);
    expect(await verify()).toEqual([]);
    expect(JSON.parse((await callCommand(['maintain'], env)).stdout)).toEqual(NOTHING);
  });
});

describe('a removed month', () => {
  test('is read by its partner as before, and by nobody else', async () => {
    expect(await readAll()).toEqual(before);
    const other = await world.subscriber();
    expect((await other.send('GET', `/v1/entregas/${before[0]?.id}`)).status).toBe(404);
    expect((await partner.send('GET', '/v1/entregas/0199aaaa-0000-7000-8000-000000000000')).status).toBe(404);
  });

  test('is evidence as before: proofs, their check, the lists and files of auditors, and the feed', async () => {
    expect(await readEvidence()).toEqual(evidence);
    expect(JSON.stringify(evidence)).toContain('obrigado, Jo');
  });

  test('is in the evidence that the command prints, as an auditor may see it', async () => {
    const { database } = world.api;
    const [{ id }] = before as [DeliveryAsSent];
    const placed = { resposta: null, selo: expect.any(Number), indice: expect.any(Number) };
    for (const [roles, proved] of [
      [['carteiro_auditor'], { sal: null, tentativas: [placed] }],
      [['carteiro_auditor', 'carteiro_auditor_cpf'], proofBefore as object],
    ] as const) {
      const { url } = await createLogin(database, ...roles);
      const proof = await callCommand(['audit', 'proof', id], { ...env, DATABASE_URL: url });
      expect([proof.code, proof.stderr]).toEqual([0, '']);
      expect({ ...(JSON.parse(proof.stdout) as object), gerada_em: null }).toMatchObject(proved);
    }
  });

  test('goes on where a look into the files stopped, with each attempt once', async () => {
    const { pool } = world.api.database;
    const archives = new Archives(pool, (name) => openPlace(name, null));
    const { middle } = times as { middle: string };
    for (const order of ['newest first', 'oldest first'] as const) {
      const isDown = order === 'newest first';
      const place = placeOf([middle]);
      // Stops at the middle, from which the next look goes on.
      const stopping: Removed = {
        delivery: () => Promise.resolve(null),
        deliveriesOf: () => Promise.resolve(null),
        between: async (table, range) => {
          const isBefore = isDown ? range.below.slice(0, place.length) > place : range.from < place;
          if (!isBefore) return archives.between(table, range);
          const near = await archives.between(table, {
            ...range,
            ...(isDown ? { from: `${place}~` } : { below: place }),
          });
          return { rows: near?.rows ?? { deliveries: '[]', attempts: '[]' }, stoppedAt: middle };
        },
      };
      const read = async (removed: Removed) => {
        const rows: unknown[] = [];
        for (let after: readonly string[] | null = null, poll = 0; poll === 0 || after !== null; poll += 1) {
          const page = { filters: {}, from: null, until: null, after, limit: 2, order, cut: null } as const;
          const found: Found = await readWithRemoved(pool, KINDS.tentativas, page, true, removed);
          rows.push(...found.rows);
          after = found.next;
        }
        return rows;
      };
      const whole = await read(archives);
      expect([whole.length, await read(stopping)]).toEqual([6, whole]);
    }
  });

  test('is named where a list of its partner lacks it, and nowhere else', async () => {
    const { api } = world;
    const token = await api.token(partner.id, ['webhooks:read']);
    const lacks = async (path: string) => {
      const { headers } = await api.send('GET', `/v1/${path}`, { token });
      return headers.get('X-Carteiro-Meses-Arquivados');
    };
    for (const list of ['entregas', `webhooks/${webhook.id}/entregas?limite=5`, 'entregas?formato=csv'])
      expect([list, await lacks(list)]).toEqual([list, MONTH]);
    for (const list of ['entregas?desde=2026-02-01T03:00:00Z', 'entregas?ate=2026-01-01T02:59:59Z', 'webhooks'])
      expect([list, await lacks(list)]).toEqual([list, null]);
  });

  test('is not counted as missing: the balance names the month to restore, and answers the days around it', async () => {
    const { api } = world;
    const token = await api.token(undefined, ['auditoria:read']);
    const [{ day }] = await api.database.sql<[{ day: string }]>`
      select to_char(min(occurred_at) at time zone 'America/Sao_Paulo', 'YYYY-MM-DD') as day from events`;
    const said = `archive restore ${MONTH}`;
    for (const anew of ['', '&recontar=true']) {
      const refused = await api.send('GET', `/v1/auditoria/balanco?de=${day}&ate=${day}${anew}`, { token });
      expect([refused.status, refused.body]).toEqual([
        409,
        expect.objectContaining({ mensagem: expect.stringContaining(said) }),
      ]);
    }
    const reported = await callCommand(['audit', 'balance', '--from', day, '--to', day, '--anew'], env);
    expect([reported.code, reported.stdout, reported.stderr]).toEqual([1, '', expect.stringContaining(said)]);
    const around = await api.send('GET', '/v1/auditoria/balanco?de=2026-01-01&ate=2026-01-30&recontar=true', { token });
    expect(around.body).toMatchObject({ fecha: true, total_diferencas: 0 });
  });

  test('shows no answer of a worker who was forgotten since, and brings none back', async () => {
    const { sql } = world.api.database;
    const [erased] = before;
    await sql`create table kept as select id, data, salt, commitment from events where id = ${erased?.evento_id ?? ''}`;
    await sql`update events set data = erased(data), commitment = sha256('x'), salt = null where id = ${erased?.evento_id ?? ''}`;
    const shown = await partner.read(erased?.id ?? '');
    expect([shown.corpo, shown.tentativas.map(({ resposta }) => resposta)]).toEqual(['apagado', ['apagado']]);
    expect((await restore()).code).toBe(0);
    const [back] = await sql`
      select answer, salt, octet_length(commitment) as hash from attempts where delivery_id = ${erased?.id ?? ''}`;
    expect(back).toEqual({ answer: null, salt: null, hash: 32 });
    expect(await sql`select from attempts where answer_body(answer) like 'obrigado, João%'`).toHaveLength(4);
    await sql`update events e set data = k.data, salt = k.salt, commitment = k.commitment from kept k where k.id = e.id`;
    await sql`drop table kept`;
    await sql`delete from attempts where delivery_id = ${erased?.id ?? ''}`;
    await sql`delete from deliveries where id = ${erased?.id ?? ''}`;
    await sql`
      insert into archive_acts (act, month, first_seal, last_seal, place, manifest, deliveries, rows, actor)
      select act, month, first_seal, last_seal, place, manifest, deliveries, rows, actor from archive_acts where act = 'remocao_concluida'`;
    await untilSettled(sql);
    await sealAll(world.api.database.pool);
  });

  test('is verified through its files: one that is altered or away is told, and a read of it is 503', async () => {
    const at = path.join(env['ARCHIVE_TO'] as string, MONTH);
    const name = (await readdir(at)).find((file) => file.startsWith('attempts')) as string;
    await rename(path.join(at, name), path.join(at, 'away'));
    expect(await verify()).toEqual([
      expect.objectContaining({
        tipo: 'arquivo_alterado',
        detalhe: expect.stringContaining(`${name} cannot be read: it is not there`),
      }),
    ]);
    expect((await partner.send('GET', `/v1/entregas/${before[0]?.id}`)).status).toBe(503);
    expect((await restore()).stderr).toContain('it is not there');
    await rename(path.join(at, 'away'), path.join(at, name));
    expect(await verify()).toEqual([]);
  });

  /** Who has the app's login and may write in the place: files with altered deliveries, a manifest of them, and acts that name it. */
  test('is told from one with altered deliveries, or answers taken away, whatever act the app’s login adds', async () => {
    const { sql, pool } = world.api.database;
    const act = (await pool.run((tx) => readMonth(tx, MONTH))) as MonthAct;
    const place = openPlace(act.place, null);
    const { assinatura: _, ...manifest } = await readManifest(place, act);
    const forge = async (table: 'attempts' | 'deliveries', change: (row: Row) => Row): Promise<MonthAct> => {
      const partes = await Promise.all(
        manifest.partes.map(async (part, index) => {
          const arquivos = part.arquivos.map(async (file) => {
            if (file.tabela !== table) return file;
            const files = new TableFiles();
            for await (const { oids, rows } of readTable(place, file)) files.put(table, oids, rows.map(change));
            return writePart(place, MONTH, index + 1, files.files()[0] as TableFile);
          });
          return { ...part, arquivos: await Promise.all(arquivos) };
        }),
      );
      const altered = { ...manifest, partes };
      const digest = await writeManifest(place, altered, []);
      return { ...act, manifest: digest, deliveries: digestOfDeliveries(altered) };
    };
    const forged = await forge('deliveries', (row) => ({
      ...row,
      status: row['status'] === 'erro' ? 'entregue' : 'erro',
    }));
    const erased = await forge('attempts', (row) => withoutText('attempts', row));
    const withActs = async <T>(acts: readonly Partial<MonthAct>[], work: () => Promise<T>): Promise<T> => {
      const kept = await sql`select max(position) as position from archive_acts`;
      for (const one of acts) {
        const { firstSeal, lastSeal, ...row } = { ...forged, ...one };
        await sql.begin(async (tx) => {
          await tx`set local role carteiro_app`;
          await tx`insert into archive_acts (act, month, first_seal, last_seal, place, manifest, deliveries, rows, actor)
                   values (${row.act}, ${MONTH}, ${firstSeal}, ${lastSeal}, ${row.place}, ${row.manifest}, ${row.deliveries}, 1, 'x')`;
        });
      }
      const done = await work();
      await sql`delete from archive_acts where position > ${kept[0]?.['position'] as string}`;
      return done;
    };
    const report = async (...acts: readonly Partial<MonthAct>[]) => {
      const { code, stderr } = await withActs(acts, () => callCommand(['archive', 'verify', MONTH], env));
      expect(code).toBe(1);
      return stderr;
    };
    // Acts alone are sound here. The status of the deliveries is not that of their attempts.
    const anew = { deliveries: act.deliveries, manifest: act.manifest, act: 'restauracao' as const };
    for (const [acts, said] of [
      [[{}], 'has other deliveries than the act before it'],
      [[{ deliveries: act.deliveries }], 'has other deliveries than its act'],
      [[anew, { act: 'arquivamento' }, {}], 'the status of delivery'],
      [[erased], 'no order to erase lists it'],
    ] as const)
      expect(await withActs(acts, verify)).toContainEqual(
        expect.objectContaining({ tipo: 'arquivo_alterado', detalhe: expect.stringContaining(said) as string }),
      );
    expect(await report({})).toContain('remocao_concluida, has other deliveries than the act before it');
    expect(await report({ deliveries: act.deliveries })).toContain('has other deliveries than its act');
    expect(await report({ act: 'arquivamento' })).toContain('arquivamento, came while its rows were away');
    expect(await report({ act: 'restauracao' })).toContain('restauracao, has other deliveries than the act before it');
    expect(await report(anew, { act: 'arquivamento' })).toContain('the status of delivery');
    expect((await callCommand(['archive', 'verify', MONTH], env)).code).toBe(0);
  });

  test('hides no other loss: an event that is gone', async () => {
    const { sql } = world.api.database;
    await sql`create table kept as select * from events where position = (select min(position) from events)`;
    await sql`delete from events where position = (select position from kept)`;
    expect(await verify()).toContainEqual(expect.objectContaining({ tipo: 'linhas_removidas' }));
    const [{ columns }] = await sql<[{ columns: string }]>`
      select string_agg(attname, ', ') as columns from pg_attribute
      where attrelid = 'events'::regclass and attnum > 0 and attgenerated = ''`;
    await sql.unsafe(`insert into events (${columns}) overriding system value select ${columns} from kept`);
    expect(await verify()).toEqual([]);
    await sql`drop table kept`;
  });

  test('comes back as it was, and maintain leaves it alone until it is archived again', async () => {
    const back = await restore();
    expect([back.code, back.stderr, JSON.parse(back.stdout)]).toEqual([0, '', { mes: MONTH, linhas: 2 }]);
    expect(await digestOfRows()).toBe(digest);
    expect(await verify()).toEqual([]);
    expect((await restore()).stderr).toContain('are in the database: nothing was done');
    expect(JSON.parse((await callCommand(['maintain'], env)).stdout)).toEqual(NOTHING);
  });
});

describe('the removal of rows', () => {
  const remove = (ids: readonly string[], attempts: number) =>
    world.api.database.sql`
      select remove_archived(${MONTH}, ${ids as string[]}::uuid[], array_fill(${attempts}::int, array[${ids.length}::int]),
        (select array_agg(finished_at order by id) from deliveries where id = any (${ids as string[]}::uuid[])), ${ids as string[]}::uuid[])`;
  const act = (kind: string) => world.api.database.sql`
    insert into archive_acts (act, month, first_seal, last_seal, place, manifest, deliveries, rows, actor)
    select ${kind}, month, first_seal, last_seal, place, manifest, deliveries, rows, actor from archive_acts where act = 'arquivamento' limit 1`;

  test('is refused before its act, and before the act is under a seal', async () => {
    const ids = before.filter(({ status: ended }) => ended === 'entregue').map(({ id }) => id);
    await expect(remove(ids, 1)).rejects.toThrow('is not being removed');
    await act('remocao');
    await expect(remove(ids, 1)).rejects.toThrow('is not sealed yet');
    expect(await digestOfRows()).toBe(digest);
  });

  test('has no act by a run that read files which another has replaced', async () => {
    const { pool } = world.api.database;
    const found = await pool.run((sql) => readMonth(sql, MONTH));
    const stale = addAct(
      pool,
      { ...(found as MonthAct), manifest: Buffer.alloc(32) },
      { ...(found as MonthAct), actor: 'teste', reason: null },
    );
    await expect(stale).rejects.toThrow('another run has written 2026-01 anew meanwhile');
  });

  test('goes on over the files that it verified: a run that wrote others meanwhile has no act', async () => {
    const { pool } = world.api.database;
    const found = (await pool.run((sql) => readMonth(sql, MONTH))) as MonthAct;
    const late = addAct(pool, found, { ...found, act: 'arquivamento', actor: 'teste', reason: null });
    await expect(late).rejects.toThrow('another run removes the rows of 2026-01 meanwhile');
  });

  test('leaves a delivery that is another than the archive has, with its attempts', async () => {
    const { sql, pool } = world.api.database;
    await untilSettled(sql);
    await sealAll(pool);
    const ids = before.filter(({ status: ended }) => ended === 'entregue').map(({ id }) => id);
    await remove(ids, 7);
    expect(await digestOfRows()).toBe(digest);
    await act('restauracao');
    await act('arquivamento');
  });

  test('may be killed anywhere: each delivery is readable at every moment, and the next run goes on', async () => {
    const { sql } = world.api.database;
    const countRemovals = async () =>
      (await sql<[{ acts: number }]>`select count(*)::int as acts from archive_acts where act = 'remocao'`)[0].acts;
    const first = await countRemovals();
    for (let [isCut, waited] = [true, 1]; isCut; waited *= 8) {
      const running = startCommand(['maintain'], env);
      const ended = running.end();
      // Ever later after the act of removal, until the run is over by then.
      const later = async (): Promise<null> => {
        for (let looks = 0; looks < waited && !isOver(running.pid);) if ((await countRemovals()) > first) looks += 1;
        return null;
      };
      isCut = (await Promise.race([ended, later()])) === null && !isOver(running.pid);
      if (isCut) process.kill(running.pid, 'SIGKILL');
      await ended;
      expect(await readAll()).toEqual(before);
    }
    expect(await verify()).toEqual([]);
    expect([await count('deliveries'), await count('attempts')]).toEqual([1, 1]);
    const cut = restoreMonth({
      pool: world.api.database.pool,
      openPlace: (name) => openPlace(name, null),
      month: MONTH,
      actor: 'teste',
      reason: null,
      onProgress: () => {
        throw new Error('cut short');
      },
    });
    await expect(cut).rejects.toThrow('cut short');
    expect(await readAll()).toEqual(before);
    expect((await restore()).code).toBe(0);
    expect(await digestOfRows()).toBe(digest);
  });
});
