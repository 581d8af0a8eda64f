/** The auditors' commands with an auditor's login and nothing else of the house. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { signHead } from '../../src/audit/checkpoint/stored.ts';
import { sealAll } from '../../src/audit/seals/sealer.ts';
import { SIGNER } from '../support/checkpoint.ts';
import { callCommand } from '../support/command.ts';
import { connectTo } from '../support/connect.ts';
import { createTestDatabase } from '../support/database.ts';
import { deliverAll } from '../support/lived-database.ts';
import { createLogin, type Login } from '../support/logins.ts';
import { commitMarginEvents, insertSubscriber } from '../support/outbox.ts';
import { FAILED_MARGIN } from '../support/payloads.ts';
import { untilSettled } from '../support/settled.ts';
import { makeTestFolder } from '../support/test-folder.ts';

const DAY = new Date(Date.now() - 3 * 3_600_000).toISOString().slice(0, 10);
const [WORKER_CPF = ''] = /\d{11}/.exec(FAILED_MARGIN) ?? [];
const BALANCE = ['balance', '--from', DAY, '--to', DAY];

const database = await createTestDatabase();
const { sql, pool } = database;
const { partnerId } = await insertSubscriber(sql, 'https://partner.example/', ['margem.falhou']);
await sql`insert into webhook_history (webhook_id, partner_id, url, events, active, actor)
            select id, partner_id, url, events, active, 'test' from webhooks`;
await commitMarginEvents(sql, partnerId, 5);
// What no row tells of, not even an attempt, can't be proved.
await deliverAll(pool);
await untilSettled(sql);
await sealAll(pool);
await pool.transaction((tx) => signHead(tx, [SIGNER]));
const [row] = await sql<[{ id: string }]>`select id from deliveries order by id limit 1`;
const delivery = row.id;
const folder = await makeTestFolder();
const file = join(folder.path, 'prova.json');
const masked = await createLogin(database, 'carteiro_auditor');
const whole = await createLogin(database, 'carteiro_auditor', 'carteiro_auditor_cpf');

async function readAs(login: Login, statement: string): Promise<readonly { entry: Buffer }[]> {
  return connectTo(login.url, { connection: {} }).unsafe<{ entry: Buffer }[]>(statement);
}

const verdictOf = ({ stdout }: { stdout: string }) => (JSON.parse(stdout) as { cabeca: string }).cabeca;
const run = (login: Login, ...args: string[]) => callCommand(['audit', ...args], { DATABASE_URL: login.url });

test.each(['an auditor', 'an auditor who may see CPFs'])(
  '%s runs head, verify, balance, proof and check with DATABASE_URL alone',
  async (who) => {
    const login = who === 'an auditor' ? masked : whole;
    const head = await run(login, 'head');
    expect(head).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\S+ 1 \S+ \S+\n$/) as string });
    const verified = await run(login, 'verify', '--head', head.stdout.trim());
    expect([verified.code, JSON.parse(verified.stdout)]).toMatchObject([0, { selos: 1, achados: [], confere: true }]);
    expect(await run(login, 'verify', '--since', verdictOf(verified))).toMatchObject({ code: 0 });
    expect(await run(login, 'verify', '--since', 'last')).toMatchObject({ code: 1 });
    expect(await run(login, 'verify', '--resume')).toMatchObject({ code: 0 });
    const closed = await run(login, ...BALANCE);
    expect([closed.code, JSON.parse(closed.stdout)]).toMatchObject([0, { fecha: true, total: { esperadas: 5 } }]);
    const proof = await run(login, 'proof', delivery);
    expect([proof.code, proof.stdout.includes(WORKER_CPF)]).toEqual([0, login === whole]);
    await writeFile(file, proof.stdout);
    const checked = await run(login, 'check', file, '--key', SIGNER.text);
    const [exit, said] = login === whole ? [0, '"confere":true'] : [3, 'the proof is masked'];
    expect([checked.code, checked.stdout]).toEqual([exit, expect.stringContaining(said)]);
  },
);

test('an auditor is told of a changed row, of one with a CPF too, and never reads the CPF', async () => {
  const { sql } = database;
  await sql`insert into send_orders (kind, webhook_id, partner_id, delivery_ids, actor, reason)
            select 'reenvio', webhook_id, partner_id, array[id], 'test', ${`a pedido de ${WORKER_CPF}`} from deliveries limit 1`;
  await untilSettled(sql);
  await sealAll(database.pool);
  expect(JSON.parse((await run(masked, 'verify')).stdout)).toMatchObject({ confere: true });
  await sql`update send_orders set reason = ${`sem pedido de ${WORKER_CPF}`}`;
  await sql`update events set actor = 'nobody' where id = (select event_id from deliveries where id = ${delivery})`;
  const { code, stdout } = await run(masked, 'verify');
  expect([code, stdout.includes(WORKER_CPF)]).toEqual([1, false]);
  expect(JSON.parse(stdout)).toMatchObject({
    achados: [
      { tipo: 'linha_alterada', tabela: 'events', detalhe: expect.stringContaining('changed') as string },
      { tipo: 'linha_alterada', tabela: 'send_orders', detalhe: expect.stringContaining('changed') as string },
    ],
  });
  const rows = await readAs(
    masked,
    'select entry from carteiro.send_orders_as_sealed union all select entry from carteiro.events_as_sealed',
  );
  expect(rows.some(({ entry }) => entry.includes(WORKER_CPF))).toBe(false);
});
