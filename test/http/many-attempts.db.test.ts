/** A delivery that was sent again and again: what shows it stays bounded, and so does what a read looks at. */
import { beforeEach, expect, test } from 'vitest';
import type { CoreEvent } from '../../src/contract/resources/nucleus-resource.ts';
import { ATTEMPTS_SHOWN, type DeliveryAsSent } from '../../src/contract/resources/delivery-resource.ts';
import { readProof } from '../../src/audit/proof/proof.ts';
import { readDelivery } from '../../src/delivery/partner/read-deliveries.ts';
import { readSent } from '../../src/delivery/partner/read-sent.ts';
import { showDelivery } from '../../src/admin/deliveries.ts';
import { rowsScanned } from '../support/counters.ts';
import { startDeliveryWorld, useSubscriber } from '../support/delivery-world.ts';
import { openTestSecret } from '../support/outbox.ts';

const world = await startDeliveryWorld();
const { partner } = useSubscriber(world);
const { database } = world.api;
const MADE = 200;

/** The attempts that are there already, and then the others up to `MADE`, each of which failed. */
async function resentUpTo(made: number): Promise<void> {
  await database.sql`
    insert into attempts (delivery_id, number, webhook_id, partner_id, outcome, started_at, duration_ms, url, claim)
    select d.id, n, d.webhook_id, d.partner_id, 'erro_conexao', now(), 1, 'https://partner.example/', 'test'
    from deliveries d, generate_series(d.attempts + 1, ${made}::int) n where d.id = ${id}`;
  await database.sql`update deliveries set attempts = ${made}, status = 'erro', failures = 6 where id = ${id}`;
}

let id = '';
beforeEach(async () => {
  await partner.emit();
  await world.deliver();
  const { itens } = (await partner.send<{ itens: { id: string }[] }>('GET', '/v1/entregas')).body;
  id = itens[0]?.id ?? '';
});

const read = async (after: string | null) =>
  (
    await partner.send<DeliveryAsSent>(
      'GET',
      `/v1/entregas/${id}${after === null ? '' : `?tentativas_depois=${after}`}`,
    )
  ).body;

test('its answer has the newest 50 attempts, and tentativas_depois goes on to the oldest, each once', async () => {
  await resentUpTo(MADE);
  // Between two pages: one that was logged as lost, and what its poller reported after all.
  await database.sql`
    insert into attempts (delivery_id, number, late, webhook_id, partner_id, outcome, started_at, duration_ms, url, claim)
    select delivery_id, number, true, webhook_id, partner_id, outcome, started_at, duration_ms, url, claim
    from attempts where delivery_id = ${id} and number = 151`;
  const pages: string[][] = [];
  for (let after: string | null = null, isOver = false; !isOver; isOver = after === null) {
    const page: DeliveryAsSent = await read(after);
    pages.push(page.tentativas.map(({ numero, atrasada }) => `${numero}${atrasada ? ' late' : ''}`));
    after = page.tentativas_depois;
  }
  expect(pages.map(({ length }) => length)).toEqual([50, 50, 50, 50, 1]);
  const numbers = Array.from({ length: MADE }, (_, index) => String(index + 1));
  expect(pages.toReversed().flat()).toEqual(numbers.flatMap((one) => (one === '151' ? [one, '151 late'] : [one])));
  expect(pages[0]?.[0]).toBe('151 late');
});

test('a cursor of another delivery is refused by name', async () => {
  await resentUpTo(MADE);
  const { tentativas_depois: foreign } = await read(null);
  await partner.emit();
  const { itens } = (await partner.send<{ itens: { id: string }[] }>('GET', '/v1/entregas')).body;
  const other = itens.find((one) => one.id !== id)?.id;
  for (const cursor of [foreign, '150', 'x'.repeat(2_000)]) {
    const { status, body } = await partner.send('GET', `/v1/entregas/${other}?tentativas_depois=${cursor}`);
    expect([status, body.detalhes?.[0]?.campo]).toEqual([400, 'tentativas_depois']);
  }
});

test('the order to send it again answers the delivery without its attempts', async () => {
  const { status, body } = await partner.send<object>('POST', `/v1/entregas/${id}/reenvio`);
  expect(status).toBe(202);
  expect(body).toMatchObject({ id, status: 'pendente' });
  expect(body).not.toHaveProperty('tentativas');
});

test("the core's event shows 50 attempts of all its deliveries together", async () => {
  await resentUpTo(MADE);
  const token = await world.api.token(undefined, ['nucleo']);
  const eventId = (await read(null)).evento_id;
  const { body } = await world.api.send<CoreEvent>('GET', `/v1/nucleo/eventos/${eventId}`, { token });
  const shown = body.entregas.map(({ tentativas, total_tentativas }) => [tentativas.length, total_tentativas]);
  expect(shown).toEqual([[ATTEMPTS_SHOWN, MADE]]);
});

test('the command shows the newest and says with what it goes on', async () => {
  await resentUpTo(MADE);
  const { pool } = database;
  const first = await showDelivery(pool, id, null);
  expect([first?.delivery.tentativas.length, first?.olderThan]).toEqual([ATTEMPTS_SHOWN, 151]);
  const numbers = (await showDelivery(pool, id, 151))?.delivery.tentativas.map(({ numero }) => numero);
  expect([numbers?.[0], numbers?.at(-1)]).toEqual([101, 150]);
});

test('a read looks at no more rows after 2,000 attempts than after 100', async () => {
  const costs: number[] = [];
  for (const made of [100, 2_000]) {
    await resentUpTo(made);
    await database.sql`analyze attempts`;
    const cost = await rowsScanned(database.url, async (pool) => {
      const found = await readDelivery(pool, partner.id, id);
      const numbers = found?.attempts.map(({ numero }) => numero) ?? [];
      await readSent(pool, openTestSecret, partner.id, id, numbers);
    });
    costs.push(cost);
  }
  expect(costs[1]).toBeLessThanOrEqual((costs[0] as number) + 20);
});

test('a proof of more than 1,000 attempts and orders is refused with the command that prints it', async () => {
  await resentUpTo(1_000);
  const own = await partner.send('GET', `/v1/entregas/${id}/prova`);
  expect(own.status).toBe(200);
  await resentUpTo(1_001);
  const token = await world.api.token(undefined, ['auditoria:read', 'auditoria:cpf']);
  const answers = [
    await partner.send('GET', `/v1/entregas/${id}/prova`),
    await world.api.send('GET', `/v1/auditoria/entregas/${id}/prova`, { token }),
    await world.api.send('GET', `/v1/auditoria/entregas/${id}/conferencia`, { token }),
  ];
  for (const { status, body } of answers)
    expect({ status, body }).toMatchObject({
      status: 409,
      body: { codigo: 'TRANSICAO_INVALIDA', mensagem: expect.stringMatching(/1000 tentativas e pedidos.*audit proof/) },
    });
  const whole = await readProof(database.pool, id);
  expect(whole?.tentativas).toHaveLength(1_001);
});

test('what shows a delivery looks at no more rows when its webhook has 2,000 orders of others than with 100', async () => {
  await database.sql`alter table send_orders disable trigger user`;
  const costs: number[] = [];
  for (const made of [100, 1_900]) {
    await database.sql`
      insert into send_orders (kind, webhook_id, partner_id, delivery_ids, actor)
      select 'reenvio', d.webhook_id, d.partner_id, array[gen_random_uuid()], 'test'
      from deliveries d, generate_series(1, ${made}::int) where d.id = ${id}`;
    await database.sql`analyze send_orders`;
    costs.push(
      await rowsScanned(database.url, async (pool) => {
        await showDelivery(pool, id, null);
        await readProof(pool, id);
      }),
    );
  }
  await database.sql`alter table send_orders enable trigger user`;
  expect(costs[1]).toBeLessThanOrEqual((costs[0] as number) + 20);
});
