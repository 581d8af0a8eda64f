/** `GET` and `PUT /v1/webhooks/{id}/opcoes`, and what a webhook gets that keeps the order of loans. */
import { beforeEach, describe, expect, test } from 'vitest';
import type { ErrorBody } from '../../src/contract/errors.ts';
import type { DeliveryResource } from '../../src/contract/resources/delivery-resource.ts';
import { startDeliveryWorld, useSubscriber } from '../support/delivery-world.ts';
import { failedDisbursementOf } from '../support/payloads.ts';
import { status } from '../support/receiver.ts';

const world = await startDeliveryWorld({ testWaitMs: 1 });
const { partner, webhook } = useSubscriber(world);

const put = (body: unknown, id = webhook.id) =>
  partner.send<{ ordem: string } & ErrorBody>('PUT', `/v1/webhooks/${id}/opcoes`, body);
const get = async () => (await partner.send<{ ordem: string }>('GET', `/v1/webhooks/${webhook.id}/opcoes`)).body;
const list = async () => {
  const { itens } = (await partner.send<{ itens: DeliveryResource[] }>('GET', '/v1/entregas')).body;
  return itens.toReversed();
};

/** Appends `count` events more to a loan. */
async function append(loan: string, versions: number, count = 1) {
  for (let version = versions; version < versions + count; version += 1) {
    await world.api.database.sql`
      select append_event(${loan}, ${version}, 'desembolso.falhou', ${partner.id},
                          ${failedDisbursementOf(loan)}::text::json, 'test')`;
  }
}

const versionsAt = (loan: string) =>
  world
    .postsTo(webhook.path)
    .filter(({ body }) => body.includes(loan))
    .map(({ headers }) => Number(headers['x-webhook-loan-version']));

describe('the options', () => {
  test('are without an order until the partner asks for one, and each change leaves a line of history', async () => {
    expect(await get()).toEqual({ ordem: 'nenhuma', rotulo: null });
    for (const ordem of ['por_emprestimo', 'por_emprestimo', 'nenhuma']) {
      const answer = await put({ ordem });
      expect([answer.status, answer.body]).toEqual([200, { ordem, rotulo: null }]);
      expect(await get()).toEqual({ ordem, rotulo: null });
    }
    const rows = await world.api.database.sql`
      select change, active, actor from webhook_history where webhook_id = ${webhook.id} order by position`;
    expect(rows.map(({ change }) => change)).toEqual(['criacao', 'ordem_por_emprestimo', 'ordem_nenhuma']);
    expect(rows[1]).toMatchObject({ active: true, actor: expect.any(String) });
  });

  test("leave the registration's shape as it is", async () => {
    await put({ ordem: 'por_emprestimo' });
    const { body } = await partner.send('GET', `/v1/webhooks/${webhook.id}`);
    expect(Object.keys(body)).toEqual(['id', 'url', 'eventos', 'ativo', 'criado_em']);
  });

  test.each([
    [{}, 'ordem'],
    [{ ordem: 'por_trabalhador' }, 'ordem'],
    [{ ordem: 'nenhuma', limite: 1 }, 'limite'],
    [[], 'corpo'],
  ])('%j is refused, and the field is named', async (body, field) => {
    const answer = await put(body);
    expect([answer.status, answer.body.codigo]).toEqual([400, 'ERRO_VALIDACAO']);
    expect(answer.body.detalhes?.map(({ campo }) => campo)).toEqual([field]);
  });
});

describe('a webhook that keeps the order of loans', () => {
  beforeEach(async () => {
    await put({ ordem: 'por_emprestimo' });
  });

  test('gets the events of each loan one by one, by version', async () => {
    const loans = [await partner.emit(), await partner.emit()];
    for (const loan of loans) await append(loan, 1, 4);
    await world.deliver();
    for (const loan of loans) expect(versionsAt(loan)).toEqual([1, 2, 3, 4, 5]);
  });

  test('holds back only the loan whose first delivery fails; the others go on', async () => {
    world.receiver.answerWith(status(503), webhook.path);
    const [stuck, free] = [await partner.emit(), await partner.emit()];
    await world.deliver();
    world.receiver.answerWith(status(200), webhook.path);
    await append(stuck, 1, 2);
    const other = await partner.emit();
    await world.deliver();
    expect(versionsAt(stuck)).toEqual([1]);
    expect(versionsAt(other)).toEqual([1]);
    const waiting = (await list()).filter(({ emprestimo_id: id }) => id === stuck);
    expect(waiting.map(({ status: now, proxima_tentativa_em: next }) => [now, next === null])).toEqual([
      ['pendente', false],
      ['pendente', true],
      ['pendente', true],
    ]);
    // Sent again by its partner, the first one arrives, and the others after it.
    await partner.send('POST', `/v1/entregas/${waiting[0]?.id}/reenvio`);
    await world.deliver();
    expect(versionsAt(stuck)).toEqual([1, 1, 2, 3]);
    expect(versionsAt(free)).toEqual([1]);
  });

  test('goes on with the next one when the one before ends in erro', async () => {
    world.receiver.answerWith(status(503), webhook.path);
    const loan = await partner.emit();
    await world.deliver();
    await append(loan, 1);
    await world.deliver();
    world.receiver.answerWith(status(200), webhook.path);
    const { sql } = world.api.database;
    await sql`update deliveries set failures = 5, attempts = 5 where webhook_id = ${webhook.id} and attempts = 1`;
    await sql`update deliveries set next_attempt_at = now() where webhook_id = ${webhook.id} and attempts = 5`;
    world.receiver.answerWith(status(503), webhook.path);
    await world.deliver();
    expect((await list()).map(({ status: now }) => now)).toEqual(['erro', 'pendente']);
    expect(versionsAt(loan)).toEqual([1, 1, 2]);
  });

  test('gets at once what waited, when the order is given up', async () => {
    world.receiver.answerWith(status(503), webhook.path);
    const loan = await partner.emit();
    await world.deliver();
    await append(loan, 1, 3);
    await world.deliver();
    expect(versionsAt(loan)).toEqual([1]);
    await put({ ordem: 'nenhuma' });
    await world.deliver();
    expect(versionsAt(loan).toSorted((one, other) => one - other)).toEqual([1, 2, 3, 4]);
  });

  test('gets what belongs to no loan as it is due', async () => {
    world.receiver.answerWith(status(503), webhook.path);
    for (let count = 0; count < 3; count += 1) await partner.send('POST', `/v1/webhooks/${webhook.id}/teste`, {});
    await world.deliver();
    expect(world.postsTo(webhook.path)).toHaveLength(3);
  });

  test('what waits is suspended with the others, and resumed in order', async () => {
    world.receiver.answerWith(status(503), webhook.path);
    const loan = await partner.emit();
    await world.deliver();
    await append(loan, 1, 2);
    await world.deliver();
    await partner.send('DELETE', `/v1/webhooks/${webhook.id}`);
    expect((await list()).map(({ status: now }) => now)).toEqual(['suspensa', 'suspensa', 'suspensa']);
    world.receiver.answerWith(status(200), webhook.path);
    await partner.send('PATCH', `/v1/webhooks/${webhook.id}`, { ativo: true, retomar: true });
    await world.deliver();
    expect(versionsAt(loan)).toEqual([1, 1, 2, 3]);
  });

  test('is sent nothing new of a loan before what is suspended of it, from the activation on', async () => {
    const { sql } = world.api.database;
    const loan = await partner.emit();
    await partner.send('DELETE', `/v1/webhooks/${webhook.id}`);
    // The resumption comes to a delivery that somebody holds, after the activation has committed.
    const held = Promise.withResolvers<void>();
    const letGo = Promise.withResolvers<void>();
    const holding = sql.begin(async (tx) => {
      await tx`select from deliveries where webhook_id = ${webhook.id} for update`;
      held.resolve();
      await letGo.promise;
    });
    await held.promise;
    const resumed = partner.send('PATCH', `/v1/webhooks/${webhook.id}`, { ativo: true, retomar: true });
    const isActive = async () => (await sql`select from webhooks where id = ${webhook.id} and active`).length > 0;
    while (!(await isActive()));
    await append(loan, 1);
    await world.engine.poll();
    expect(versionsAt(loan)).toEqual([]);
    letGo.resolve();
    await holding;
    expect((await resumed).status).toBe(200);
    await world.deliver();
    expect(versionsAt(loan)).toEqual([1, 2]);
  });

  test('is sent what is new of a loan beside what stays suspended', async () => {
    const loan = await partner.emit();
    await partner.send('DELETE', `/v1/webhooks/${webhook.id}`);
    await partner.send('PATCH', `/v1/webhooks/${webhook.id}`, { ativo: true });
    await append(loan, 1);
    await world.deliver();
    expect(versionsAt(loan)).toEqual([2]);
  });
});
