/**
 * A lender's first day, by the command line and over HTTP: a database that is the core's, a year that comes in silently, and a
 * loan that goes on.
 */
import { writeFile } from 'node:fs/promises';
import { createHmac } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import postgres from 'postgres';
import { dayOf } from '../../src/contract/calendar.ts';
import { type Finished, callCommand, startCommand } from '../support/command.ts';
import {
  createCoreDatabase,
  environmentOf,
  fingerprintOf,
  installationOfItsOwn,
  PASSWORD,
} from '../support/core-database.ts';
import { fetchDescribed } from '../support/described-answers.ts';
import { idOf, linesOf, yearOfHistory } from '../support/history.ts';
import { startReceiver } from '../support/receiver.ts';
import { makeTestFolder } from '../support/test-folder.ts';

const LOANS = 40;

const as = (role: string) => ({ ...environment, DATABASE_URL: core.urlOf(`${installation.rolePrefix}_${role}_login`) });
const carteiro = async (...args: string[]): Promise<Finished> => callCommand(args, environment);

const core = await createCoreDatabase();
const folder = await makeTestFolder();
const installation = installationOfItsOwn();
const environment: Record<string, string> = { ...environmentOf(installation, folder.path), DATABASE_URL: core.url };
const migrated = await carteiro('migrate');
if (migrated.code !== 0) throw new Error(migrated.stderr);
for (const [login, roles] of Object.entries({ app: ['app'], core: ['core'], import: ['app', 'migrator'] })) {
  const granted = roles.map((role) => `${installation.rolePrefix}_${role}`).join(', ');
  const name = `${installation.rolePrefix}_${login}_login`;
  await core.sql.unsafe(`create role ${name} login password '${PASSWORD}' in role ${granted}`);
}
const created = await carteiro('partner', 'create', '--name', 'Um');
const partnerId = (JSON.parse(created.stdout) as { id: string }).id;

const lastMonth = (offset: number) => {
  const day = new Date(`${dayOf(new Date()).slice(0, 7)}-15T12:00:00Z`);
  day.setUTCMonth(day.getUTCMonth() - offset);
  return day.toISOString().slice(0, 7);
};

test('a year is imported, read, told to nobody, and a loan of it goes on by a signed POST with the right version', async () => {
  const before = await fingerprintOf(core.sql, installation);
  const receiver = await startReceiver();
  const running = startCommand(['start'], environment);
  const [, url] = /(http:\/\/[^\s"]+?:\d+)/.exec(await running.output(/http:\/\/[^\s"]+?:\d+/)) ?? [];
  const scope = 'webhooks:read webhooks:write emprestimos:read';
  const token = (await carteiro('token', '--partner', partnerId, '--scope', scope)).stdout.trim();
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const registered = await fetchDescribed(`${url}/v1/webhooks`, {
    method: 'POST',
    headers,
    body: JSON.stringify({
      url: receiver.url,
      eventos: ['desembolso.liquidado', 'averbacao.concluida', 'trabalhador.desligado'],
    }),
  });
  const { secret } = (await registered.json()) as { secret: string };

  const file = join(folder.path, 'loans.ndjson');
  await writeFile(file, linesOf(yearOfHistory(partnerId, LOANS, new Date(), 'first day')));
  const args = ['import', file, '--closed-until', lastMonth(1), '--batch', '37'];
  const refused = await callCommand(args, as('app'));
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringMatching(/lacks the rights.*_migrator/)]);
  const imported = await callCommand(args, as('import'));
  expect([imported.code, JSON.parse(imported.stdout)]).toEqual([
    0,
    { lines: 5 * LOANS, events: 5 * LOANS, appended: 5 * LOANS, warnings: 0, seconds: expect.any(Number) as number },
  ]);
  const again = startCommand(['import', '-'], as('import'));
  expect((await again.end('SIGTERM')).code).not.toBe(0);
  expect(JSON.parse((await callCommand(args, as('import'))).stdout)).toMatchObject({ appended: 0 });

  const loan = idOf('first day', 3);
  const read = async (query = '') =>
    (await (await fetchDescribed(`${url}/v1/emprestimos/${loan}${query}`, { headers })).json()) as object;
  expect(await read()).toMatchObject({ id: loan, status: 'desembolsada', versao: 5 });
  expect(await read('?versao=1')).toMatchObject({ status: 'em_assinatura', versao: 1 });

  const bank = postgres(as('core')['DATABASE_URL'] ?? '', { max: 1 });
  const reported = {
    emprestimo_id: loan,
    numero_emprestimo: ((await read()) as { numero: string }).numero,
    cpf_trabalhador: '52998224725',
    matricula: 'M-3',
    nome_trabalhador: 'Ana Souza',
    data_desligamento: new Date().toISOString().slice(0, 10),
    motivo_desligamento: { codigo: '02', descricao: 'Sem justa causa' },
    situacao_emprestimo: { codigo: 'encerrada', descricao: 'Encerrada por desligamento' },
  };
  await bank.unsafe(
    `select ${installation.schema}.append_event($1, 5, 'trabalhador.desligado', $2, $3::text::json, 'core')`,
    [loan, partnerId, JSON.stringify(reported)],
  );
  await bank.end();
  await receiver.received(1);
  const [post] = receiver.posts;
  expect(post?.headers).toMatchObject({ 'x-webhook-event': 'trabalhador.desligado', 'x-webhook-loan-version': '6' });
  const digest = createHmac('sha256', secret)
    .update(post?.body ?? '')
    .digest('hex');
  expect(post?.headers['x-webhook-signature']).toBe(`sha256=${digest}`);
  expect((await running.end('SIGTERM')).code).toBe(0);
  expect(receiver.posts).toHaveLength(1);
  await receiver.close();

  const year = lastMonth(12);
  const balance = await carteiro(
    'audit',
    'balance',
    '--from',
    `${year}-01`,
    '--to',
    new Date().toISOString().slice(0, 10),
  );
  const { total } = JSON.parse(balance.stdout) as { total: object };
  expect([balance.code, total]).toMatchObject([0, { eventos: 1, esperadas: 1, entregue: 1 }]);
  await carteiro('audit', 'seal');
  expect(JSON.parse((await carteiro('audit', 'verify')).stdout)).toMatchObject({ confere: true, achados: [] });
  expect(JSON.parse((await carteiro('close-settlement', lastMonth(1))).stdout)).toMatchObject({ closed: 1 });
  const counted = await core.sql.unsafe(`select installments from ${installation.schema}.settlements`);
  expect(counted).toEqual([{ installments: 0 }]);
  expect(await fingerprintOf(core.sql, installation)).toEqual(before);
});

test('a line that does not fit ends it with 1: the line, the key, the rule, and what is in', async () => {
  const lines = linesOf(yearOfHistory(partnerId, 2, new Date(), 'second file')).split('\n');
  lines[7] = (lines[7] ?? '').replace('"version":3', '"version":4');
  const file = join(folder.path, 'gap.ndjson');
  await writeFile(file, lines.join('\n'));
  const { code, stdout, stderr } = await callCommand(
    ['import', file, '--closed-until', lastMonth(1), '--batch', '5'],
    as('import'),
  );
  expect([code, JSON.parse(stdout)]).toMatchObject([1, { lines: 5, appended: 5 }]);
  expect(stderr.trim().split('\n')).toEqual([
    // The first file has a loan of that number.
    expect.stringMatching(/^line 1: warning: data\.numero: the loan \S+ bears this number already/),
    'line 8: version: 4 does not follow 2. Lines 1 to 5 are in, and nothing behind them: mend the line and run the same command again',
  ]);
  expect(await callCommand(['import', join(folder.path, 'none.ndjson')], as('import'))).toMatchObject({ code: 2 });
});

describe('killed', () => {
  const STREAMS = `'{${Array.from({ length: 30 }, (_, index) => idOf('killed', index)).join()}}'`;
  const logged = () =>
    core.sql.unsafe(`
    select stream, version, type, data::text, occurred_at
    from ${installation.schema}.events where imported and actor = 'import' and stream = any (${STREAMS})
    order by epoch, tx, position`);
  /** Whoever works for the importing login: what it waits for. */
  const sessions = () => core.sql<{ waits: string | null }[]>`
    select wait_event_type as waits from pg_stat_activity
    where datname = current_database() and usename = ${`${installation.rolePrefix}_import_login`}`;

  test('with SIGKILL before a batch is written, after it was, and between two, and run again: the log is that of one run', async () => {
    const file = join(folder.path, 'killed.ndjson');
    const events = [...yearOfHistory(partnerId, 30, new Date(), 'killed')];
    // In a file in which streams are mixed each loan goes on in a later batch.
    const mixed = events.toSorted((one, other) => one.version - other.version);
    await writeFile(file, linesOf(mixed));
    const args = ['import', file, '--closed-until', lastMonth(1), '--batch', '10'];
    const { schema } = installation;
    // append_history begins with the row; the loans are folded when its events are written, before the commit.
    for (const held of [`lock ${schema}.history_batches in share mode`, `lock ${schema}.loans in share mode`]) {
      const session = await core.sql.reserve();
      await session.unsafe(`begin; ${held}`);
      const before = await logged();
      const running = startCommand(args, as('import'));
      while (!(await sessions()).some(({ waits }) => waits === 'Lock')) await sleep(20);
      await running.end('SIGKILL');
      await session`rollback`;
      session.release();
      while ((await sessions()).length > 0) await sleep(20);
      expect(await logged()).toEqual(before);
      const slow = startCommand([...args, '--rate', '40'], as('import'));
      while ((await logged()).length < before.length + 20) await sleep(20);
      await slow.end('SIGKILL');
      while ((await sessions()).length > 0) await sleep(20);
      expect((await logged()).length % 10).toBe(0);
    }
    const whole = await callCommand(args, as('import'));
    expect([whole.code, JSON.parse(whole.stdout)]).toMatchObject([0, { lines: 150, events: 150 }]);
    expect(await logged()).toEqual(
      mixed.map(({ stream, version, type, data, occurred_at }) => {
        return { stream, version, type, data: JSON.stringify(data), occurred_at: new Date(occurred_at) };
      }),
    );
    expect(JSON.parse((await carteiro('rebuild', '--check')).stdout)).toMatchObject({ differences: [] });
    const [kept] = await core.sql.unsafe(`
      select count(*)::int as loans from ${schema}.loans join ${schema}.settled_elsewhere on loan_id = id
      where version = 5 and id = any (${STREAMS})`);
    expect(kept).toEqual({ loans: 30 });
  });
});
