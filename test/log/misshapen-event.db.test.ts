/** Events that are legible and of no shape of the catalog, without deliveries, as only a superuser can plant them. */
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { dayOf } from '../../src/contract/calendar.ts';
import { EXPORT_FORMATS } from '../../src/contract/resources/audit-lists.ts';
import { sealAll } from '../../src/audit/seals/sealer.ts';
import { verifySeals } from '../../src/audit/seals/verify.ts';
import { projectBatch } from '../../src/core/projection/projector.ts';
import { readSettlement } from '../../src/core/settlement/installments.ts';
import { closeSettlement } from '../../src/core/settlement/settlement.ts';
import type { LogFields } from '../../src/log-lines.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import { disbursedLoan, registeringLoan } from '../core/disbursed-loans.ts';
import { startDeliveryWorld } from '../support/delivery-world.ts';
import { untilSettled } from '../support/settled.ts';
import { silentLog } from '../support/silent-log.ts';

const SETTLED = '"total_parcelas":1,"numero_ccbs":1,"valor_total":1,"fechado_em":"2026-03-01T00:00:00.000Z"';

/** By name: the type, the payload, and whether it stands on the stream of a loan that lives. */
const PLANTS: Readonly<Record<string, readonly [type: string, data: string, onLoan?: 'on a loan']>> = {
  'a settlement whose id is no UUID': ['repasse.processado', `{"repasse_id":"7","competencia":"2026-01",${SETTLED}}`],
  'a settlement whose id is no text': ['repasse.processado', `{"repasse_id":[7],"competencia":"2026-01",${SETTLED}}`],
  'a settlement that closed never': [
    'repasse.processado',
    `{"repasse_id":"${randomUUID()}","competencia":"janeiro","total_parcelas":"x","numero_ccbs":1,"valor_total":"x","fechado_em":"nunca"}`,
  ],
  'a settlement with a character that PostgreSQL cannot hold': ['repasse.processado', '{"repasse_id":"\\u0000"}'],
  'an end of a registration with half of a surrogate pair': [
    'averbacao.concluida',
    '{"averbacao_id":"\\ud800"}',
    'on a loan',
  ],
  'the id of a loan that is a number': ['desembolso.falhou', '{"emprestimo_id":7}', 'on a loan'],
  'a list for a payload': ['averbacao.concluida', '[1]', 'on a loan'],
  'null for a payload': ['averbacao.concluida', 'null', 'on a loan'],
  'an end of a bond of 2 MB': ['trabalhador.desligado', `{"motivo":"${'x'.repeat(2_000_000)}"}`, 'on a loan'],
  'an end of a bond without a reason': ['trabalhador.desligado', '{}', 'on a loan'],
  'a contract of nothing': ['emprestimo.contratado', '{}'],
  'a type that there is not': ['nada.nenhum', '{}', 'on a loan'],
  'lists in lists, 5,000 deep': ['desembolso.falhou', `{"a":${'['.repeat(5_000)}1e5${']'.repeat(5_000)}}`, 'on a loan'],
};
const metrics = createMetrics();
const faults: LogFields[] = [];
const log = { ...silentLog, error: (fields: LogFields) => void faults.push(fields) };

const world = await startDeliveryWorld();
const { pool, sql } = world.api.database;
const partner = await world.subscriber();
const auditor = await world.api.token(undefined, ['auditoria:read']);

async function plant(type: string, data: string, stream: string): Promise<string> {
  const [{ id }] = await world.api.database.sql<[{ id: string }]>`
    insert into events (stream, version, type, partner_id, data, occurred_at, actor, fan_out, is_of_loan, seen)
    select ${stream}, coalesce(max(version), 0) + 1, ${type}, ${partner.id}, ${data}::text::json, now(), 'superuser', 0,
           case when max(version) > 0 then true end, pg_current_snapshot()
    from events where stream = ${stream}
    returning id`;
  return id;
}

async function project(): Promise<void> {
  await untilSettled(sql);
  while ((await projectBatch({ pool, log, metrics })).more);
}

async function countFaults(): Promise<number> {
  return Number(/^carteiro_projector_faults_total (\d+)/m.exec((await metrics.expose()).text)?.[1]);
}

describe.each(Object.entries(PLANTS))('%s', (_name, [type, data, onLoan]) => {
  test('is named and counted, and stops neither the projector, nor settlements, nor seals', async () => {
    const provenance = { partnerId: partner.id, actor: 'test', requestId: null };
    const loan = onLoan === undefined ? null : await disbursedLoan(pool, provenance, '2025-12-31');
    const before = await countFaults();
    const eventId = await plant(type, data, loan?.id ?? randomUUID());
    const other = await registeringLoan(pool, provenance);
    const reported = JSON.stringify({
      emprestimo_id: other.id,
      averbacao_id: other.registration?.id,
      protocolo_registry: 'P-1',
    });
    await sql`select append_event(${other.id}, ${other.version}, 'averbacao.concluida', ${partner.id}, ${reported}::text::json, 'core')`;

    await project();
    expect(await countFaults()).toBeGreaterThan(before);
    expect(faults).toContainEqual(expect.objectContaining({ eventId }));
    expect(await sql`select status from loans where id = ${other.id}`).toEqual([{ status: 'averbada' }]);
    expect(await sql`select status from registrations where loan_id = ${other.id}`).toEqual([{ status: 'concluida' }]);

    await sealAll(pool);
    expect(await verifySeals(pool)).toMatchObject({ findings: [] });
    if (loan === null) return;
    const token = await world.api.token(partner.id, ['emprestimos:read']);
    for (const version of ['', `?versao=${loan.version}`, `?versao=${loan.version + 1}`])
      expect(await world.api.send('GET', `/v1/emprestimos/${loan.id}${version}`, { token })).toMatchObject({
        status: 200,
        body: { status: 'desembolsada' },
      });
  });
});

describe('beside all of them', () => {
  test('a partner’s month is closed, and a month that a core closed is kept', async () => {
    const provenance = { partnerId: partner.id, actor: 'test', requestId: null };
    const closed = await closeSettlement(pool, provenance, '2026-02', new Date('2026-03-02T12:00:00Z'));
    expect(closed).toMatchObject({ ok: { alreadyClosed: false } });
    const id = randomUUID();
    const reported = `{"repasse_id":"${id}","competencia":"2026-03",${SETTLED.replace('2026-03-01', '2026-04-01')}}`;
    await sql`select append_event(${id}, 0, 'repasse.processado', ${partner.id}, ${reported}::text::json, 'core')`;
    await project();
    expect(await pool.run((tx) => readSettlement(tx, partner.id, '2026-03'))).toMatchObject({ repasse_id: id });
  });

  test('the balance of the day names those on the streams of loans as unexpected, and goes on', async () => {
    await untilSettled(sql);
    const day = dayOf(new Date());
    const { status, text } = await world.api.send('GET', `/v1/auditoria/balanco?de=${day}&ate=${day}`, {
      token: auditor,
    });
    expect(status).toBe(200);
    expect(JSON.parse(text).diferencas.length).toBeGreaterThan(5);
  });

  test.each(EXPORT_FORMATS)('the attempts are exported as %s, with their manifest', async (formato) => {
    const headers = { Authorization: `Bearer ${auditor}` };
    const answer = await world.api.app.request(`/v1/auditoria/tentativas?formato=${formato}`, { headers });
    expect(answer.status).toBe(200);
    expect((await answer.text()).length).toBeGreaterThan(0);
    const manifest = await world.api.app.request(answer.headers.get('X-Carteiro-Manifesto') ?? '', { headers });
    expect(await manifest.json()).toMatchObject({ linhas: expect.any(Number) });
  });
});

test('a test whose payload PostgreSQL cannot read is sealed, and stops no delivery of its webhook', async () => {
  const webhook = await partner.register();
  await sql`
    select make_test_delivery(${webhook.id}, ${partner.id}, 'webhook.teste', ${'{"exemplo_de":"\\u0000"}'}::text::json, 'superuser')`;
  const next = await partner.emit();
  await world.deliver();
  expect(world.postsTo(webhook.path).map(({ body }) => JSON.parse(String(body)).data.emprestimo_id)).toContain(next);
  await untilSettled(sql);
  await sealAll(pool);
  expect(await verifySeals(pool)).toMatchObject({ findings: [] });
});

test('an event whose worker was forgotten is no fault', async () => {
  const { id } = await registeringLoan(pool, { partnerId: partner.id, actor: 'test', requestId: null });
  const read = () => sql`
    update events e set data = erased(data), salt = nullif(salt, salt) where stream = ${id} and version = 1
    returning event_fault(e) as fault`;
  const planted = sql`
    update events e set data = erased(data) where stream = ${id} and version = 1 returning event_fault(e) as fault`;
  expect(await planted).toEqual([{ fault: expect.stringContaining('cpf_trabalhador') as string }]);
  expect(await read()).toEqual([{ fault: null }]);
});
