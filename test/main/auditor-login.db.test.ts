/** The auditors' commands with an auditor's login and nothing else of the house. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { signHead } from '../../src/audit/checkpoint/stored.ts';
import { sealAll } from '../../src/audit/seals/sealer.ts';
import { SIGNER } from '../support/checkpoint.ts';
import { runCommand } from '../support/command.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createLogin, type Login } from '../support/logins.ts';
import { commitMarginEvents, insertPartner, insertWebhook } from '../support/outbox.ts';
import { untilSettled } from '../support/settled.ts';

const DAY = new Date(Date.now() - 3 * 3_600_000).toISOString().slice(0, 10);
const BALANCE = ['balance', '--from', DAY, '--to', DAY];

let database: TestDatabase;
let masked: Login;
let whole: Login;

beforeAll(async () => {
  database = await createTestDatabase();
  const { sql, pool } = database;
  const partnerId = await insertPartner(sql);
  await insertWebhook(sql, partnerId, 'https://partner.example/', ['margem.falhou']);
  await sql`insert into webhook_history (webhook_id, partner_id, url, events, active, actor)
            select id, partner_id, url, events, active, 'test' from webhooks`;
  await commitMarginEvents(sql, partnerId, 5);
  await untilSettled(sql);
  await sealAll(pool);
  await pool.transaction((tx) => signHead(tx, [SIGNER]));
  masked = await createLogin(database, 'carteiro_auditor');
  whole = await createLogin(database, 'carteiro_auditor', 'carteiro_auditor_cpf');
});
afterAll(async () => {
  await masked.remove();
  await whole.remove();
  await database.drop();
});

const run = (login: Login, ...args: string[]) => runCommand(['audit', ...args], { DATABASE_URL: login.url });

test('an auditor who may see CPFs runs head, verify and balance with DATABASE_URL alone', async () => {
  const head = await run(whole, 'head');
  expect(head).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\S+ 1 \S+ \S+\n$/) as string });
  const verified = await run(whole, 'verify', '--head', head.stdout.trim());
  expect([verified.code, JSON.parse(verified.stdout)]).toMatchObject([0, { selos: 1, achados: [], confere: true }]);
  const closed = await run(whole, ...BALANCE);
  expect([closed.code, JSON.parse(closed.stdout)]).toMatchObject([0, { fecha: true, total: { esperadas: 5 } }]);
});

test('one who may not runs head, and is told which role verify and balance need', async () => {
  expect((await run(masked, 'head')).code).toBe(0);
  for (const args of [['verify'], BALANCE]) {
    const { code, stderr } = await run(masked, ...args);
    expect([code, stderr]).toEqual([1, expect.stringContaining('which is a member of carteiro_auditor_cpf')]);
  }
});
