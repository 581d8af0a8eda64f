/** `archive` by the real command line: what it writes, what others read of it, and what it says when it cannot. */
import { execFile, spawn } from 'node:child_process';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { openNote } from '../../src/audit/checkpoint/note.ts';
import type { Manifest } from '../../src/archive/manifest.ts';
import { sealAll } from '../../src/audit/seals/sealer.ts';
import { backdateSeals } from '../support/backdated-seals.ts';
import { callCommand, sandboxOn } from '../support/command.ts';
import { createTestDatabase } from '../support/database.ts';
import { live } from '../support/lived-database.ts';
import { readCheckpointKeys } from '../../src/main/service/key-files.ts';
import { readConfig } from '../../src/config.ts';
import { startReceiver, status } from '../support/receiver.ts';
import { untilSettled } from '../support/settled.ts';
import { makeTestFolder } from '../support/test-folder.ts';

const run = promisify(execFile);
const MONTH = '2026-01';

const database = await createTestDatabase();
const folder = await makeTestFolder();
const receiver = await startReceiver();
receiver.answerWith(status(200, 'obrigado, João'));
await live(database.pool, database.sql, receiver);
await receiver.close();
// Every type of column: a list of ids, of names, of bytes, and text beyond ASCII.
await database.sql`
  insert into send_orders (kind, webhook_id, partner_id, delivery_ids, actor, reason)
  select 'reenvio', webhook_id, partner_id, array_agg(id), 'ação', null from deliveries group by webhook_id, partner_id`;
await untilSettled(database.sql);
await sealAll(database.pool);
await backdateSeals(database.pool, new Date('2026-01-20T12:00:00Z'));
const env = {
  ...sandboxOn(database.url),
  DATA_DIR: path.join(folder.path, 'data'),
  LOG_LEVEL: 'warn',
};
await mkdir(env['DATA_DIR']);

const acts = () => database.sql<{ act: string }[]>`select act from archive_acts order by position`;
const at = (...parts: string[]) => path.join(folder.path, ...parts);

async function archiveTo(place: string, more: Record<string, string> = {}) {
  return callCommand(['archive', MONTH, '--to', place], { ...env, ...more });
}

describe('what cannot be archived', () => {
  test('a month that is not over, one without seals, and one that is no month', async () => {
    const now = new Date().toISOString().slice(0, 7);
    const open = await callCommand(['archive', now, '--to', at('open')], env);
    expect([open.code, open.stderr]).toEqual([1, expect.stringContaining('is not over yet in São Paulo')]);
    const empty = await callCommand(['archive', '2025-12', '--to', at('open')], env);
    expect([empty.code, empty.stderr]).toEqual([1, expect.stringContaining('no seal was made in 2025-12')]);
    expect((await callCommand(['archive', '2025-13', '--to', at('open')], env)).code).toBe(2);
    expect((await callCommand(['archive', 'verify', MONTH], env)).stderr).toContain(`${MONTH} is not archived`);
  });

  test('to a full disk: it says so, and nothing is registered', async ({ skip }) => {
    const script = 'mount -t tmpfs -o size=16k tmpfs "$1" && shift && exec "$@"';
    await mkdir(at('full'));
    const words = ['--mount', 'sh', '-c', script, 'sh', at('full')];
    skip(
      await run('unshare', [...words, 'true']).then(
        () => false,
        () => true,
      ),
      'no tmpfs can be mounted here',
    );
    const main = path.resolve(import.meta.dirname, '../../src/main.ts');
    const full = await run('unshare', [...words, process.execPath, main, 'archive', MONTH, '--to', at('full')], {
      env: { PATH: process.env['PATH'], ...env },
    }).then(
      () => null,
      (error: { code: number; stderr: string }) => error,
    );
    expect(full?.code).toBe(1);
    expect(full?.stderr).toMatch(/full\/2026-01\/\S+\.parquet cannot be written: the disk is full/);
    expect(await acts()).toEqual([]);
  });

  test('where the place is none: a path below a file, a bucket without a key', async () => {
    await writeFile(at('file'), '');
    const below = await archiveTo(at('file', 'archive'));
    expect([below.code, below.stderr]).toEqual([1, expect.stringContaining('a part of the path is no directory')]);
    const keyless = await archiveTo('s3://bucket/prefix');
    expect([keyless.code, keyless.stderr]).toEqual([1, expect.stringContaining('needs ARCHIVE_S3_KEY_ID')]);
    expect((await archiveTo('s3://B/../x')).stderr).toContain('is no place: give s3://bucket/prefix');
    expect(await acts()).toEqual([]);
  });

  test('beside a row that was changed after it was sealed', async () => {
    await database.sql`update attempts set status_code = status_code + 1 where status_code = 200`;
    const changed = await archiveTo(at('changed'));
    expect([changed.code, changed.stderr]).toEqual([1, expect.stringMatching(/do not give seal \d+/)]);
    await database.sql`update attempts set status_code = 200 where status_code = 201`;
    expect(await acts()).toEqual([]);
  });
});

describe('a month in a directory', () => {
  const place = () => at('archive');

  test('is written whole, with a signed manifest, and registered in a row that is sealed', async () => {
    const done = await archiveTo(place());
    expect([done.code, done.stderr]).toEqual([0, '']);
    const said = JSON.parse(done.stdout) as { manifesto: string; linhas: number };
    expect(said).toMatchObject({ mes: MONTH, selos: { de: 1 }, onde: place() });
    const names = await readdir(at('archive', MONTH));
    const kinds = new Set(names.map((name) => name.replace(/(-\d{5})?-\w{8}\./, '.')));
    expect([...kinds].toSorted()).toEqual([
      'attempts.parquet',
      'deliveries.parquet',
      'events.parquet',
      'manifesto.json',
      'send_orders.parquet',
      'webhook_history.parquet',
    ]);
    const text = await readFile(at('archive', MONTH, names.find((name) => name.endsWith('.json')) ?? ''), 'utf8');
    const manifest = JSON.parse(text) as Manifest;
    const { verifiers } = await readCheckpointKeys(readConfig(env, []));
    expect(openNote(manifest.assinatura ?? '', verifiers)?.signedBy).toHaveLength(1);
    const [row] = await database.sql`select act, month, encode(manifest, 'hex') as manifest from archive_acts`;
    expect(row).toEqual({ act: 'arquivamento', month: MONTH, manifest: said.manifesto });
    await untilSettled(database.sql);
    expect((await sealAll(database.pool)).rows).toBe(1);
  });

  test('is verified again, and not archived twice', async () => {
    const verified = await callCommand(['archive', 'verify', MONTH], env);
    expect([verified.code, verified.stderr]).toEqual([0, '']);
    expect(JSON.parse(verified.stdout)).toMatchObject({ mes: MONTH, confere: true });
    const again = await archiveTo(at('elsewhere'));
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining(`is archived in ${place()} since before`)]);
  });

  test('names the file that was altered, cut or taken away', async () => {
    const names = await readdir(at('archive', MONTH));
    const file = at('archive', MONTH, names.find((name) => name.startsWith('attempts')) ?? '');
    const kept = await readFile(file);
    const report = async (bytes: Buffer | null) => {
      if (bytes === null) await run('mv', [file, `${file}.away`]);
      else await writeFile(file, bytes);
      const { code, stderr } = await callCommand(['archive', 'verify', MONTH], env);
      await run('rm', ['-f', `${file}.away`]);
      await writeFile(file, kept);
      expect(code).toBe(1);
      return stderr;
    };
    const other = Buffer.from(kept);
    other[100] = (other[100] ?? 0) ^ 1;
    expect(await report(other)).toContain(`${file} was altered: its SHA-256 is another`);
    expect(await report(kept.subarray(0, 50))).toContain(`${file} was altered: it has 50 bytes of ${kept.length}`);
    expect(await report(null)).toContain(`${file} cannot be read: it is not there`);
    const manifest = at('archive', MONTH, names.find((name) => name.startsWith('manifesto')) ?? '');
    const asWritten = await readFile(manifest);
    await writeFile(manifest, asWritten.toString().replace('"linhas"', ' "linhas"'));
    expect((await callCommand(['archive', 'verify', MONTH], env)).stderr).toContain(`${manifest} was altered`);
    await writeFile(manifest, asWritten);
    expect((await callCommand(['archive', 'verify', MONTH], env)).code).toBe(0);
  });

  test('is written anew where its files were altered before its rows were removed', async () => {
    const name = (await readdir(at('archive', MONTH))).find((file) => file.startsWith('events')) ?? '';
    await writeFile(at('archive', MONTH, name), '');
    const reported = await callCommand(['archive', 'verify', MONTH], env);
    expect(reported.stderr).toContain(`archive ${MONTH} --to PLACE writes them anew`);
    const anew = await archiveTo(place());
    expect([anew.code, anew.stderr]).toEqual([0, '']);
    expect((await callCommand(['archive', 'verify', MONTH], env)).code).toBe(0);
  });

  test('is carried to another place, verified there and read there from then on, and back', async () => {
    const move = (to: string) => callCommand(['archive', 'move', MONTH, '--to', to, '--reason', 'a new disk'], env);
    const moved = await move(at('moved'));
    expect([moved.code, moved.stderr, JSON.parse(moved.stdout)]).toEqual([0, '', { mes: MONTH, onde: at('moved') }]);
    expect((await move(at('moved'))).stderr).toContain('already: nothing was done');
    const verified = await callCommand(['archive', 'verify', MONTH], env);
    expect(JSON.parse(verified.stdout)).toMatchObject({ onde: at('moved'), confere: true });
    expect((await move(place())).code).toBe(0);
  });

  test.for(['duckdb', 'pandas'])('is read by %s, in columns of their types', async (library, { skip }) => {
    const missing = await run('python3', ['-c', `import ${library}`]).then(
      () => false,
      () => true,
    );
    skip(missing, `python3 has no ${library}: pip install duckdb pandas pyarrow`);
    const glob = (table: string) => at('archive', MONTH, `${table}-*.parquet`);
    const program = {
      duckdb: `
import duckdb, json, sys
rows = duckdb.sql(f"select a.outcome, count(*), min(a.started_at) > timestamptz '2026-01-01', typeof(any_value(a.delivery_id)), bool_and(octet_length(a.body_digest) = 0), any_value(e.body)"
  f" from '{sys.argv[1]}' a join '{sys.argv[2]}' e on e.id = a.event_id join '{sys.argv[3]}' d on d.id = a.delivery_id group by 1").fetchall()
print(json.dumps(rows))`,
      pandas: `
import pandas, glob, json, sys
a, e, d = [pandas.concat(pandas.read_parquet(f) for f in glob.glob(g)) for g in sys.argv[1:4]]
j = a.merge(e, left_on='event_id', right_on='id').merge(d, left_on='delivery_id', right_on='id')
o = pandas.concat(pandas.read_parquet(f) for f in glob.glob(sys.argv[4]))
print(json.dumps([[k, len(g), bool(g.started_at.min() > pandas.Timestamp('2026-01-01', tz='UTC')), 'UUID' if len(o.delivery_ids[0]) == 12 else '', bool((g.body_digest == b'').all()), g.body.iloc[0]] for k, g in j.groupby('outcome')]))`,
    }[library] as string;
    const tables = ['attempts', 'events', 'deliveries', 'send_orders'].map(glob);
    const { stdout } = await run('python3', ['-c', program, ...tables]);
    expect(JSON.parse(stdout)).toEqual([
      ['entregue', 8, true, 'UUID', true, expect.stringMatching(/^\{"evento":"desembolso\.falhou"/)],
    ]);
  });
});

describe('a month in a bucket', () => {
  test('is written and verified through a server of S3, in a bucket with a retention; a bucket that is none is told', async ({
    skip,
  }) => {
    const missing = await run('python3', ['-c', 'import moto.server']).then(
      () => false,
      () => true,
    );
    skip(missing, "python3 has no moto.server: pip install 'moto[server]'");
    const server = spawn('python3', ['-u', '-m', 'moto.server', '-p', '0'], { stdio: ['ignore', 'ignore', 'pipe'] });
    try {
      let said = '';
      server.stderr.setEncoding('utf8');
      for await (const text of server.stderr as AsyncIterable<string>) {
        said += text;
        if (/http:\/\/127\.0\.0\.1:\d+/.test(said)) break;
      }
      const endpoint = /http:\/\/127\.0\.0\.1:\d+/.exec(said)?.[0] ?? '';
      await writeFile(at('s3.secret'), 'secret\n');
      const access = {
        ARCHIVE_S3_ENDPOINT: endpoint,
        ARCHIVE_S3_KEY_ID: 'key-id',
        ARCHIVE_S3_SECRET_FILE: at('s3.secret'),
      };
      await database.sql`delete from archive_acts`;
      const wrong = await archiveTo('s3://no-such-bucket/log', access);
      expect([wrong.code, wrong.stderr]).toEqual([
        1,
        expect.stringMatching(
          /s3:\/\/no-such-bucket\/log\/2026-01\/\S+ cannot be written: S3 answers 404 NoSuchBucket \([^<]+\): make the bucket/,
        ),
      ]);
      expect(await acts()).toEqual([]);
      const locked = { 'x-amz-bucket-object-lock-enabled': 'true' };
      expect((await fetch(`${endpoint}/lender`, { method: 'PUT', headers: locked })).status).toBe(200);
      const retention = '<DefaultRetention><Mode>COMPLIANCE</Mode><Days>1</Days></DefaultRetention>';
      const body = `<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled><Rule>${retention}</Rule></ObjectLockConfiguration>`;
      expect((await fetch(`${endpoint}/lender?object-lock`, { method: 'PUT', body })).status).toBe(200);
      const done = await archiveTo('s3://lender/log/', access);
      expect([done.code, done.stderr]).toEqual([0, '']);
      expect(JSON.parse(done.stdout)).toMatchObject({ onde: 's3://lender/log' });
      expect((await callCommand(['archive', 'verify', MONTH], { ...env, ...access })).code).toBe(0);
      expect(
        (await (await fetch(`${endpoint}/lender?list-type=2`)).text()).match(/<Key>log\/2026-01\/attempts-/g),
      ).toHaveLength(1);
    } finally {
      server.kill();
    }
  });
});
