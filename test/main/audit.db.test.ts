/** The auditors' commands as real processes. */
import { randomBytes } from 'node:crypto';
import { readFile, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { signHead } from '../../src/audit/checkpoint/stored.ts';
import { readProof } from '../../src/audit/proof/proof.ts';
import { keyIdOf } from '../../src/webhooks/secrets.ts';
import { SIGNER } from '../support/checkpoint.ts';
import { callCommand, startCommand } from '../support/command.ts';
import { createTestDatabase } from '../support/database.ts';
import { commitMarginEvents, insertAttempts, insertSubscriber } from '../support/outbox.ts';
import { makeTestFolder } from '../support/test-folder.ts';

const KEY = randomBytes(32);

const database = await createTestDatabase();
const folder = await makeTestFolder();
const { sql } = database;
const { partnerId } = await insertSubscriber(sql, 'https://partner.example/', ['margem.falhou']);
// Of the poller's own key, so that it starts, and not to be opened, so that it sends nothing.
await sql`update webhooks set encrypted_secret = convert_to(${keyIdOf(KEY)}, 'UTF8') || encrypted_secret`;
await sql`insert into webhook_history (webhook_id, partner_id, url, events, active, actor)
            select id, partner_id, url, events, active, 'test' from webhooks`;
await commitMarginEvents(sql, partnerId, 5);
await insertAttempts(sql);

const env = () => ({
  DATABASE_URL: database.url,
  SANDBOX: 'true',
  SECRETS_KEY: KEY.toString('base64'),
  LOG_LEVEL: 'warn',
});
const run = (...args: string[]) => callCommand(['audit', ...args], env());

test('poll seals by itself what is settled; head tells it, verify finds it whole, and a changed row broken', async () => {
  const poller = startCommand(['poll'], { ...env(), DATA_DIR: folder.path });
  while ((await database.sql`select from checkpoints`).length === 0)
    await new Promise((resolve) => setTimeout(resolve, 50));
  expect((await poller.end('SIGTERM')).code).toBe(0);
  const head = await run('head');
  expect(head.stdout).toMatch(/^carteiro\.local\/sandbox \d+ [A-Za-z0-9+/]{43}= [A-Za-z0-9+/]+=*\n$/);
  const anchor = head.stdout.trim();
  const whole = await run('verify', '--head', anchor);
  expect([whole.code, JSON.parse(whole.stdout)]).toEqual([
    0,
    {
      selos: 1,
      linhas: 11,
      cabeca: expect.stringMatching(/^1:[0-9a-f]{64}$/) as string,
      achados: [],
      nao_comparado: null,
      confere: true,
    },
  ]);
  const cabeca = (JSON.parse(whole.stdout) as { cabeca: string }).cabeca;
  const [increment, again] = [await run('verify', '--since', 'last'), await run('verify', '--resume')];
  expect([increment, again].map(({ stdout }) => JSON.parse(stdout) as object)).toMatchObject([
    { selos: 0, linhas: 0, cabeca, confere: true },
    { selos: 1, linhas: 11, cabeca, confere: true },
  ]);
  await database.sql`update events set data = (data::text || ' ')::json where position = 1`;
  const broken = await run('verify');
  expect([broken.code, JSON.parse(broken.stdout)]).toMatchObject([
    1,
    { confere: false, achados: [{ tipo: 'linha_alterada', selo: 1, tabela: 'events', colunas: [] }] },
  ]);
  const kept = await database.sql`select since::int, findings, finished from verify_verdicts order by position`;
  expect(kept.map(({ since, findings }) => [since, findings])).toEqual([
    [0, 0],
    [1, 0],
    [0, 0],
    [0, 1],
  ]);
  expect(await run('verify', '--since', 'last')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('no verdict without findings was kept') as string,
  });
  expect((await run('verify', '--head', 'x')).stderr).toContain('Give a head');
});

test('checkpoint key makes a key that others can be told, and never overwrites one', async () => {
  const make = (name: string, to = path.join(folder.path, 'none')) =>
    callCommand(['checkpoint', 'key', '--name', name, '--file', to]);
  const own = path.join(folder.path, 'own.key');
  const made = await make('carteiro.example.com/log', own);
  expect([made.code, made.stdout]).toEqual([
    0,
    expect.stringMatching(/^carteiro\.example\.com\/log\+[0-9a-f]{8}\+A[A-Za-z0-9+/]+=*\n$/),
  ]);
  expect(await readFile(own, 'utf8')).toMatch(/^PRIVATE\+KEY\+carteiro\.example\.com\/log\+/);
  expect((await make('carteiro.example.com/log', own)).code).toBe(1);
  expect((await make('a name')).code).toBe(2);
});

test('seal seals the rest; balance closes until a delivery is gone', async () => {
  expect(JSON.parse((await run('seal')).stdout)).toMatchObject({ selos: 0 });
  const day = new Date(Date.now() - 3 * 3_600_000).toISOString().slice(0, 10);
  const closed = await run('balance', '--from', day, '--to', day);
  expect([closed.code, JSON.parse(closed.stdout)]).toMatchObject([
    0,
    { fecha: true, total: { eventos: 5, esperadas: 5 } },
  ]);
  await database.sql`delete from deliveries where id = (select max(id::text)::uuid from deliveries)`;
  const open = await run('balance', '--from', day, '--to', day);
  expect([open.code, JSON.parse(open.stdout)]).toMatchObject([
    1,
    { fecha: false, diferencas: [{ tipo: 'entrega_ausente' }] },
  ]);
  const kept = await database.sql`select from_day, closes, differences from balance_verdicts order by position`;
  expect(kept).toEqual([
    { from_day: day, closes: true, differences: 0 },
    { from_day: day, closes: false, differences: 1 },
  ]);
});

test('check judges a file without any database', async () => {
  const [row] = await database.sql<{ id: string }[]>`select id from deliveries limit 1`;
  await database.sql`update events set data = rtrim(data::text)::json`;
  await database.sql`truncate checkpoints cascade`;
  await database.pool.transaction((tx) => signHead(tx, [SIGNER]));
  const proof = await readProof(database.pool, row?.id ?? '');
  const file = path.join(folder.path, 'proof.json');
  await writeFile(file, JSON.stringify(proof));
  const check = () => callCommand(['audit', 'check', file, '--key', SIGNER.text]);
  expect((await callCommand(['audit', 'check', file])).code).toBe(3);
  const good = await check();
  expect([good.code, good.stderr, JSON.parse(good.stdout)]).toEqual([
    0,
    '',
    {
      confere: true,
      motivo: null,
      aviso: null,
      sem_selo: 0,
      apagado: null,
      fatos: expect.objectContaining({
        teste: false,
        entrega: { id: row?.id, webhook_id: proof?.entrega.webhook_id, status: null },
      }) as object,
      sem_prova: { gerada_em: proof?.gerada_em, 'entrega.concluida_em': null, 'entrega.status': 'pendente' },
      recibos: [],
    },
  ]);
  await writeFile(file, JSON.stringify({ ...proof, corpo: '{}' }));
  const bad = await check();
  expect([bad.code, JSON.parse(bad.stdout)]).toMatchObject([
    1,
    { confere: false, motivo: expect.stringContaining('body') as string },
  ]);
});

test('check tells of a file that is too long, and reads no more of it than of the longest proof', async () => {
  const long = path.join(folder.path, 'long.json');
  await writeFile(long, '');
  await truncate(long, 1_000_000_000);
  const checked = await callCommand(['audit', 'check', long]);
  expect([checked.code, JSON.parse(checked.stdout)]).toMatchObject([
    3,
    { confere: null, motivo: expect.stringContaining('too long') as string },
  ]);
});
