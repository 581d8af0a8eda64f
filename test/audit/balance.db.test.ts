/** The balance over webhooks that the API made and changed, with appends open across the changes. */
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import type { BalanceResource } from '../../src/contract/resources/audit-resource.ts';
import { dayOf } from '../../src/contract/calendar.ts';
import { addUp } from '../../src/audit/add-up-balance.ts';
import { BUSY, readBalance } from '../../src/audit/balance.ts';
import { startApi, type TestApi } from '../support/api.ts';
import { createTestDatabase } from '../support/database.ts';
import { commitEvents, commitMarginEvents } from '../support/outbox.ts';

let api: TestApi | undefined;
let partner: string;
let token: string;

const close = async () => api?.close();
afterAll(close);

const sql = () => (api as TestApi).database.sql;

async function register(eventos: string[]): Promise<string> {
  const { body } = await (api as TestApi).send<{ id: string }>('POST', '/v1/webhooks', {
    token,
    body: { url: 'https://partner.example/', eventos },
  });
  return body.id;
}

const today = () => dayOf(new Date());

async function balance(query = `?de=${today()}&ate=${today()}`) {
  const auditor = await (api as TestApi).token(undefined, ['auditoria:read']);
  return (api as TestApi).send<BalanceResource>('GET', `/v1/auditoria/balanco${query}`, { token: auditor });
}

/** Events of today: three before the second webhook, two after it, one after the first was deactivated. */
beforeEach(async () => {
  await close();
  api = await startApi();
  partner = await api.partner();
  token = await api.token(partner, ['webhooks:write']);
  const { pool } = api.database;
  const insertToday = (count: number) => commitMarginEvents(sql(), partner, count);
  const first = await register(['margem.falhou']);
  await register(['averbacao.concluida']);
  await insertToday(3);
  await register(['margem.falhou', 'averbacao.concluida']);
  await insertToday(2);
  await pool.transaction(async (tx) => {
    await tx`update webhooks set active = false where id = ${first}`;
    await tx`insert into webhook_history (webhook_id, partner_id, url, events, active, change, actor)
             select id, partner_id, url, events, false, 'desativacao', 'test' from webhooks where id = ${first}`;
    // Not committed yet: an append beside it still sees the webhook active, and delivers to it.
    await insertToday(1);
  });
  await insertToday(1);
});

describe('the balance', () => {
  test('counts what each append saw, and closes', async () => {
    const { body } = await balance();
    expect(body).toMatchObject({
      fecha: true,
      linhas: [{ dia: today(), parceiro_id: partner, eventos: 7, esperadas: 3 + 4 + 2 + 1, pendente: 10 }],
      total: { eventos: 7, esperadas: 10, pendente: 10, entregue: 0, erro: 0, suspensa: 0, importados: 0 },
      diferencas: [],
    });
  });

  test('webhook.teste stands outside', async () => {
    await sql()`
      select make_test_delivery((select min(id::text)::uuid from webhooks), ${partner}, 'webhook.teste', '{}', 'test')`;
    expect((await balance()).body).toMatchObject({ fecha: true, total: { esperadas: 10, pendente: 10 } });
  });

  test('counts events on the day they happened', async () => {
    await commitMarginEvents(sql(), partner, 1, new Date('2026-01-31T12:00:00.000Z'));
    expect((await balance('?de=2026-01-31&ate=2026-01-31')).body.total).toMatchObject({
      eventos: 1,
      esperadas: 1,
      pendente: 1,
    });
  });

  test('tells the days of one statement apart, to the millisecond', async () => {
    await commitMarginEvents(sql(), partner, 1, new Date('2026-01-30T02:59:59.999Z'));
    await commitMarginEvents(sql(), partner, 2, new Date('2026-01-30T03:00:00.000Z'));
    await commitMarginEvents(sql(), partner, 1, new Date('2026-01-31T02:59:59.999Z'));
    await commitMarginEvents(sql(), partner, 1, new Date('2026-01-31T03:00:00.000Z'));
    // Made by nothing: their ids say when.
    await sql()`
      insert into deliveries (id, event_id, webhook_id, partner_id, next_attempt_at)
      select made.id::uuid, uuidv7(), w.id, w.partner_id, now()
      from (select id, partner_id from webhooks where events = '{averbacao.concluida}') w,
           unnest(array['019c0cd7-df7f-7000-8000-000000000000', '019c0cd7-df80-7000-8000-000000000000']) made (id)`;
    const { linhas, diferencas } = (await balance('?de=2026-01-28&ate=2026-02-02')).body;
    expect(linhas.map(({ dia, eventos }) => [dia, eventos])).toEqual([
      ['2026-01-29', 1],
      ['2026-01-30', 3],
      ['2026-01-31', 1],
    ]);
    expect(diferencas.map(({ tipo, dia }) => [tipo, dia])).toEqual([
      ['entrega_sem_evento', '2026-01-29'],
      ['entrega_sem_evento', '2026-01-30'],
    ]);
  });

  test.each([
    [
      'a deleted delivery',
      () => sql()`delete from deliveries where id = (select min(id::text)::uuid from deliveries)`,
      ['entrega_ausente'],
    ],
    [
      'an added one',
      () => sql()`
        insert into deliveries (event_id, webhook_id, partner_id, next_attempt_at)
        select (select id from events order by position limit 1), id, partner_id, now() from webhooks where events = '{averbacao.concluida}'`,
      ['entrega_excedente'],
    ],
    [
      'a delivery moved to another webhook',
      () => sql()`
        update deliveries set webhook_id = (select id from webhooks where events = '{averbacao.concluida}')
        where id = (select min(id::text)::uuid from deliveries)`,
      ['entrega_ausente', 'entrega_excedente'],
    ],
    [
      'another fan-out',
      () => sql()`update events set fan_out = 9 where id = (select id from events order by position limit 1)`,
      ['fan_out_divergente'],
    ],
    [
      'a removed message',
      () =>
        sql()`update events set fan_out = null, seen = null where id = (select id from events order by position limit 1)`,
      ['entrega_excedente', 'entrega_sem_evento', 'mensagem_ausente'],
    ],
    [
      'a removed event',
      () => sql()`delete from events where position = (select min(position) from events)`,
      ['entrega_sem_evento'],
    ],
    [
      'an invented history',
      () => sql()`update webhook_history set active = false where position = 1`,
      [...Array<string>(6).fill('entrega_excedente'), ...Array<string>(6).fill('fan_out_divergente')],
    ],
  ])('lists %s, row by row', async (_, tamper, kinds) => {
    await tamper();
    const { body } = await balance();
    expect(body.fecha).toBe(false);
    expect(body.diferencas.map(({ tipo }) => tipo).sort()).toEqual(kinds);
    expect(body.total_diferencas).toBe(kinds.length);
  });

  test('tells of each event that our own core would not have written there, and counts its deliveries all the same', async () => {
    await commitEvents(sql(), partner, 2);
    const { body } = await balance();
    expect(body).toMatchObject({ fecha: true, total: { eventos: 9, esperadas: 10 }, total_diferencas: 2 });
    expect(body.diferencas).toMatchObject(
      Array.from({ length: 2 }, () => ({
        tipo: 'fato_inesperado',
        parceiro_id: partner,
        evento: 'desembolso.falhou',
        webhook_id: null,
        entrega_id: null,
        detalhe: 'o fluxo não tem, antes, a contratação do empréstimo',
      })),
    );
  });

  test('refuses days that are none, in the wrong order, or too many', async () => {
    for (const query of [
      '',
      '?de=2026-01-01',
      '?de=2026-02-30&ate=2026-03-01',
      '?de=2026-02-02&ate=2026-02-01',
      '?de=2026-01-01&ate=2026-02-01',
      '?de=x&ate=2026-01-01',
      '?de=2026-01-01&ate=x',
      '?de=&ate=',
      '?de=2026-1-1&ate=2026-1-2',
      '?de=2026-01-01T00:00:00Z&ate=2026-01-02T00:00:00Z',
      '?de=0000-01-01&ate=0000-01-02',
      '?de=1969-12-31&ate=1970-01-01',
      '?de=3000-01-01&ate=3000-01-01',
      '?de=9999-12-31&ate=9999-12-31',
    ]) {
      expect([query, (await balance(query)).status]).toEqual([query, 400]);
    }
    for (const day of ['1970-01-01', '2999-12-31']) expect((await balance(`?de=${day}&ate=${day}`)).status).toBe(200);
  });
});

test('a quiet day is read at once and a busy one hour by hour; both add up', async () => {
  const { pool } = (api as TestApi).database;
  const slices = async () => {
    let count = 0;
    for await (const _ of readBalance(pool, today(), today())) count += 1;
    return count;
  };
  expect(await slices()).toBe(1);
  await commitMarginEvents(sql(), partner, BUSY);
  expect(await slices()).toBe(24);
  expect((await balance()).body).toMatchObject({ fecha: true, total: { eventos: 7 + BUSY } });
});

test('the answer comes while it is made, and a fault of the first day is told before it begins', async () => {
  const auditor = await (api as TestApi).token(undefined, ['auditoria:read']);
  const answer = await (api as TestApi).app.request(`/v1/auditoria/balanco?de=2026-01-01&ate=2026-01-24`, {
    headers: { Authorization: `Bearer ${auditor}` },
  });
  // A line each day, or a line break where nothing happened.
  expect((await answer.text()).split('\n').length).toBeGreaterThan(24);
  await sql()`alter table webhook_history rename to gone`;
  expect((await balance()).status).toBe(500);
});

test('types that somebody took out of the catalog are counted all the same, by the sealed fan-out', async () => {
  const { total } = (await balance()).body;
  expect(total.eventos).toBeGreaterThan(0);
  await sql()`update event_types set kind = 'internal' where kind = 'emitted'`;
  expect((await balance()).body.total).toEqual(total);
});

test('five years without an event are read by the month', async () => {
  const database = await createTestDatabase();
  let statements = 0;
  const { pool } = database;
  const run = pool.run.bind(pool);
  pool.run = (work) => ((statements += 1), run(work));
  expect(await addUp(readBalance(pool, '2021-01-15', '2026-01-14'), '2021-01-15', '2026-01-14', 10)).toMatchObject({
    fecha: true,
    linhas: [],
  });
  expect(statements).toBeLessThan(70);
});

test('closes over events of a partner who was let go meanwhile, and came back', async () => {
  const { pool } = (api as TestApi).database;
  await sql()`select deactivate_partner(${partner}, 'test', 'contrato encerrado')`;
  await commitMarginEvents(sql(), partner, 3);
  expect((await balance()).body).toMatchObject({ fecha: true, diferencas: [] });
  // An append that began before the account was back saw it inactive, one that began later sees it.
  await pool.transaction(async (tx) => {
    await tx`update partners set active = true where id = ${partner}`;
    await commitMarginEvents(sql(), partner, 1);
  });
  await commitMarginEvents(sql(), partner, 2);
  const { body } = await balance();
  expect(body).toMatchObject({ fecha: true, diferencas: [] });
  await sql()`delete from deliveries where event_id = (select id from events order by id desc limit 1)`;
  expect((await balance()).body).toMatchObject({ fecha: false, diferencas: [{ tipo: 'entrega_ausente' }] });
});
