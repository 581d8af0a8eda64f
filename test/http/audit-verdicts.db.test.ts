/** What the checks of the log say, over HTTP. */
import { expect, test } from 'vitest';
import type {
  AuditVerdicts,
  CheckedProofResource,
  VerificationResource,
} from '../../src/contract/resources/audit-verdicts.ts';
import { keepVerdict } from '../../src/audit/seals/verdicts.ts';
import { verifySeals } from '../../src/audit/seals/verify.ts';
import { startApi, type TestApi } from '../support/api.ts';
import { sealAndSign } from '../support/checkpoint.ts';
import { deliverAll } from '../support/lived-database.ts';
import { commitEvents, insertSubscriber } from '../support/outbox.ts';
import { untilSettled } from '../support/settled.ts';

const api = await startApi();
const token = await api.token(undefined, ['auditoria:read']);
const { sql, pool } = api.database;
const { partnerId } = await insertSubscriber(sql);
await commitEvents(sql, partnerId, 2);
// What no row tells of, not even an attempt, can't be proved.
await deliverAll(pool);
await untilSettled(sql);
await sealAndSign(pool);

const verify = (body?: object, as = token) =>
  api.send<VerificationResource>('POST', '/v1/auditoria/verificacao', { token: as, ...(body && { body }) });

test('the verdicts are null before the first night, and then what was kept', async () => {
  const ask = async () => (await api.send<AuditVerdicts>('GET', '/v1/auditoria/vereditos', { token })).body;
  expect(await ask()).toMatchObject({
    cabeca: expect.stringMatching(/^1:[0-9a-f]{64}$/) as string,
    verificacao: null,
    balanco: null,
  });
  const { pool, sql } = api.database;
  const found = await verifySeals(pool);
  await pool.run((tx) => keepVerdict(tx, 0, found, true));
  await sql`insert into balance_verdicts (from_day, to_day, closes, differences) values ('2026-01-01', '2026-01-07', false, 2)`;
  expect(await ask()).toMatchObject({
    verificacao: { selos: 1 },
    balanco: { fecha: false, total_diferencas: 2, de: '2026-01-01', ate: '2026-01-07' },
  });
});

test('the log is verified on demand, against a head that was kept outside too', async () => {
  const whole = (await verify()).body;
  expect([whole.confere, whole.selos]).toEqual([true, 1]);
  expect((await verify({ cabeca: whole.cabeca })).body.confere).toBe(true);
  expect((await verify({ cabeca: `99:${'0'.repeat(64)}` })).body.confere).toBe(false);
  expect((await verify({ cabeca: 'nada' })).body).toMatchObject({ detalhes: [{ campo: 'cabeca' }] });
  expect((await verify(undefined, await api.token(undefined, ['operador']))).status).toBe(403);
});

test('a right that the release does not give is found', async () => {
  await api.database.sql`grant delete on attempts to carteiro_app`;
  expect((await verify()).body.achados).toMatchObject([{ tipo: 'definicao_alterada', tabela: 'attempts' }]);
  await api.database.sql`revoke delete on attempts from carteiro_app`;
});

test('one check at a time', async () => {
  const answers = await Promise.all([verify(), verify()]);
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 409]));
});

test('a delivery’s evidence is judged as audit check judges it', async () => {
  const [row] = await api.database.sql<[{ id: string }]>`select id from deliveries limit 1`;
  const check = async (scopes: Parameters<TestApi['token']>[1]) => {
    const as = await api.token(undefined, scopes);
    return (await api.send<CheckedProofResource>('GET', `/v1/auditoria/entregas/${row.id}/conferencia`, { token: as }))
      .body;
  };
  expect((await check(['auditoria:read', 'auditoria:cpf'])).confere).toBe(true);
  expect((await check(['auditoria:read'])).confere).toBeNull();
});
