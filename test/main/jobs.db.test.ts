/** The operator's jobs alone, and as two real processes at once. */
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { Sql } from '../../src/db/pool.ts';
import type { Provenance } from '../../src/log/append.ts';
import { reportEndOfBond } from '../../src/registry/simulated-bonds.ts';
import { createPartner, issueLoan } from '../core/loan-world.ts';
import { disbursedLoan } from '../core/disbursed-loans.ts';
import { contract } from '../loan/loan-spec.ts';
import { callCommand, runCommand, sandboxOn, startServing } from '../support/command.ts';
import { createTestDatabase } from '../support/database.ts';

const database = await createTestDatabase();
const partners: readonly [Provenance, Provenance] = [
  await createPartner(database.sql),
  await createPartner(database.sql),
];
await database.sql`insert into partners (name, active) values ('inativo', false)`;

const env = { DATABASE_URL: database.url, SANDBOX: 'true', LOG_LEVEL: 'warn' };
const run = (...args: string[]) => callCommand(args, env);

/** Runs the command twice at once and adds up what the two JSON lines say. */
async function runTwice(...args: string[]): Promise<Record<string, number>> {
  const both = await Promise.all([runCommand(args, env), runCommand(args, env)]);
  expect(both.map(({ code, stderr }) => [code, stderr])).toEqual([
    [0, ''],
    [0, ''],
  ]);
  const sum: Record<string, number> = {};
  for (const { stdout } of both) {
    for (const [name, value] of Object.entries(JSON.parse(stdout) as object)) {
      if (typeof value === 'number') sum[name] = (sum[name] ?? 0) + value;
    }
  }
  return sum;
}

describe('sync-bonds', () => {
  test('run on two machines at once detects each record of every partner once; then there is nothing left', async () => {
    for (const partner of partners) {
      for (let count = 0; count < 5; count += 1) {
        const { id: loanId } = await issueLoan(database.pool, partner, `sync-${count}`);
        const data = { on: '2026-06-30', reason: { codigo: '02', descricao: 'Sem justa causa' } };
        await reportEndOfBond(database.sql, { partnerId: partner.partnerId, loanId }, data);
      }
    }
    expect(await runTwice('sync-bonds')).toEqual({
      desligamentos: 10,
      novos: 0,
      failed: 0,
      desconhecidos: 0,
      recusados: 0,
    });
    const events = await database.sql`select from events where type = 'trabalhador.desligado'`;
    expect(events).toHaveLength(10);
    const again = await run('sync-bonds');
    const nothing = '{"desligamentos":0,"novos":0,"failed":0,"desconhecidos":0,"recusados":0}\n';
    expect(again).toEqual({ code: 0, stdout: nothing, stderr: '' });
  });
});

describe('close-settlement', () => {
  test('run on two machines at once closes each active partner once; then it says that nothing changed', async () => {
    await disbursedLoan(database.pool, partners[0], '2025-01-31');
    expect(await runTwice('close-settlement', '2025-02')).toMatchObject({ closed: 2, alreadyClosed: 2 });
    const rows = await database.sql`select installments from settlements order by installments`;
    expect(rows.map(({ installments }) => installments)).toEqual([0, 1]);
    const events = await database.sql`select from events where type = 'repasse.processado'`;
    expect(events).toHaveLength(2);
    const { code, stdout } = await run('close-settlement', '2025-02');
    expect([code, JSON.parse(stdout)]).toEqual([
      0,
      { month: '2025-02', partners: 2, closed: 0, alreadyClosed: 2, failed: [] },
    ]);
  });

  test('counts what SQL alone appended, and says which transaction holds it back', async () => {
    const { partnerId } = partners[0];
    const id = randomUUID();
    const append = (sql: Sql, version: number, type: string, data: object) => sql`
      select append_event(${id}, ${version}, ${type}, ${partnerId}, ${JSON.stringify(data)}::text::json, 'core-banking', null,
                          ${version === 0 ? '2025-02-01T12:00:00.000Z' : null})`;
    const held = await database.sql.reserve();
    await held`begin`;
    const numero = '2025-00000077';
    await append(held, 0, 'emprestimo.contratado', { ...contract(), emprestimo_id: id, numero });
    await database.sql`update projections set mark_tx = null, mark_at = null, passed_at = null`;
    const refused = await run('close-settlement', '2025-03', '--wait', '0');
    expect([refused.code, refused.stdout]).toEqual([1, '']);
    expect(refused.stderr).toMatch(
      /^carteiro: the projector has not passed .*: the transaction of process \d+ .* is open since/,
    );
    await held`commit`;
    held.release();
    const data = {
      emprestimo_id: id,
      numero_emprestimo: numero,
      valor_liberado: 1234.5,
      data_liberacao: '2025-02-15',
    };
    await append(database.sql, 1, 'desembolso.liquidado', data);
    expect((await run('close-settlement', '2025-03')).code).toBe(0);
    const [{ mine }] = await database.sql<[{ mine: number }]>`
      select count(*)::int as mine from settled_installments where loan_id = ${id} and number = 1`;
    expect(mine).toBe(1);
  });

  test('is refused where the core is outside, before the database is asked: its months are its own to close', async () => {
    const outside = { DATABASE_URL: 'postgres://127.0.0.1:1/none', SANDBOX: 'true', LOAN_CORE: 'outside' };
    const refused = await callCommand(['close-settlement', '2025-01'], outside);
    expect([refused.code, refused.stdout]).toEqual([2, '']);
    expect(refused.stderr).toMatch(
      /^carteiro: LOAN_CORE is outside, so the core closes its months .*; nothing was closed\n$/,
    );
  });

  test('refuses a month that is not over, and what is no month', async () => {
    const early = await run('close-settlement', '2999-12');
    expect(early).toEqual({ code: 1, stdout: '', stderr: 'carteiro: 2999-12 is not over yet in São Paulo\n' });
    for (const month of ['2026-13', '0001-01']) {
      const wrong = await run('close-settlement', month);
      expect([wrong.code, wrong.stdout]).toEqual([2, '']);
      expect(wrong.stderr).toContain('Give a month: 2026-06.');
    }
    expect(await database.sql`select from settlements where month not in ('2025-02', '2025-03')`).toHaveLength(0);
  });
});

describe('rebuild', () => {
  test('repairs what differs; with --check it only says so, and leaves with 1', async () => {
    const { id } = await issueLoan(database.pool, partners[0], 'rebuild');
    const [{ loans }] = await database.sql<[{ loans: number }]>`select count(*)::int as loans from loans`;
    await database.sql`update loans set state = (state::jsonb || '{"signed": true}')::json where id = ${id}`;
    const answer = async (...args: string[]) => {
      const { code, stdout, stderr } = await run('rebuild', ...args);
      return { code, stderr, ...(JSON.parse(stdout) as object) };
    };
    const found = { stderr: '', loans, differences: [id] };
    expect(await answer('--check')).toEqual({ ...found, code: 1, repaired: 0 });
    expect(await answer()).toEqual({ ...found, code: 0, repaired: 1 });
    expect(await answer('--check')).toEqual({ ...found, code: 0, differences: [], repaired: 0 });
  });
});

test('api projects by itself what SQL appended, and tells its lag', async () => {
  const { partnerId } = partners[0];
  const id = randomUUID();
  const api = await startServing('api', sandboxOn(database.url, { METRICS_PORT: '' }));
  const data = JSON.stringify({ ...contract(), emprestimo_id: id, numero: '2026-00000078' });
  await database.sql`
    select append_event(${id}, 0, 'emprestimo.contratado', ${partnerId}, ${data}::text::json, 'core-banking')`;
  while ((await database.sql`select from loans where id = ${id}`).length === 0)
    await new Promise((resolve) => setTimeout(resolve, 50));
  const shown = await (await fetch(`${api.url}/metrics`)).text();
  expect(shown).toMatch(/^carteiro_projector_lag_seconds [\d.e-]+$/m);
  expect((await api.end('SIGTERM')).code).toBe(0);
});
