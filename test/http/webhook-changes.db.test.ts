import { beforeEach, describe, expect, test } from 'vitest';
import type { ErrorBody } from '../../src/contract/errors.ts';
import type { WebhookResource } from '../../src/contract/resources/webhook.ts';
import { startDeliveryWorld, useSubscriber } from '../support/delivery-world.ts';
import { rescueOverdue } from '../../src/delivery/queue/rescuer.ts';
import { commitEvents, insertClaim, readDeliveries } from '../support/outbox.ts';
import { hang, status } from '../support/receiver.ts';

let path: string;
const world = await startDeliveryWorld();
const { sql } = world.api.database;
const { partner, webhook } = useSubscriber(world);
beforeEach(() => {
  path = `/v1/webhooks/${webhook.id}`;
});

const patch = (body: unknown) => partner.send<WebhookResource & ErrorBody>('PATCH', path, body);
const statuses = async () => (await readDeliveries(world.api.database.sql, webhook.id)).map((row) => row.status);
const history = () => world.api.database.sql`
  select url, events, active, change, actor, request_id from webhook_history
  where webhook_id = ${webhook.id} order by position`;

test('a webhook is read with the contract’s fields and no others, active or not', async () => {
  const { secret, path: _path, ...shown } = webhook;
  expect(secret).toBeDefined();
  const read = await partner.send('GET', path);
  expect([read.status, read.body]).toEqual([200, shown]);
  await partner.send('DELETE', path);
  expect((await partner.send('GET', path)).body).toEqual({ ...shown, ativo: false });
});

describe('a change', () => {
  test('moves what is pending to the new URL and future events to the new list, and is told by history', async () => {
    const loan = await partner.emit();
    const url = `${world.receiver.url}/moved-${webhook.id}`;
    const changed = await patch({ url, eventos: ['repasse.processado'] });
    expect(changed.status).toBe(200);
    expect(changed.body).toMatchObject({ id: webhook.id, url, eventos: ['repasse.processado'], ativo: true });
    await partner.emit();
    await world.deliver();
    expect(world.postsTo(webhook.path)).toHaveLength(0);
    const posts = world.postsTo(`/moved-${webhook.id}`);
    expect(posts.map((post) => JSON.parse(post.body.toString()).data.emprestimo_id)).toEqual([loan]);
    expect((await history()).at(-1)).toEqual({
      url,
      events: ['repasse.processado'],
      active: true,
      change: 'alteracao',
      actor: partner.id,
      request_id: changed.headers.get('X-Request-Id'),
    });
  });

  test('that changes nothing leaves no line of history', async () => {
    expect((await patch({ url: webhook.url, ativo: true })).status).toBe(200);
    expect(await history()).toHaveLength(1);
  });

  test.each([
    ['nothing', {}, 'corpo'],
    ['an unknown field', { ativo: true, secret: 'x' }, 'secret'],
    ['a bad url', { url: 'ftp://a.example.com/' }, 'url'],
    ['no events', { eventos: [] }, 'eventos'],
    ['a reserved event', { eventos: ['repasse.pago'] }, 'eventos[0]'],
    ['a resumption without activation', { retomar: true }, 'retomar'],
    ['a resumption of what is deactivated', { ativo: false, retomar: true }, 'retomar'],
    ['a null', { ativo: null }, 'ativo'],
  ])('is refused with %s', async (_name, body, campo) => {
    const answer = await patch(body);
    expect([answer.status, answer.body.detalhes?.map((detail) => detail.campo)]).toEqual([400, [campo]]);
  });
});

describe('a deactivation', () => {
  test('suspends what is pending at once, sends nothing more, and may be repeated', async () => {
    for (let count = 0; count < 3; count += 1) await partner.emit();
    const first = await partner.send('DELETE', path);
    expect([first.status, first.text]).toEqual([204, '']);
    expect(await statuses()).toEqual(['suspensa', 'suspensa', 'suspensa']);
    expect((await partner.send('DELETE', path)).status).toBe(204);
    await partner.emit();
    await world.deliver();
    expect(await statuses()).toHaveLength(3);
    expect(world.postsTo(webhook.path)).toHaveLength(0);
    expect((await partner.send<WebhookResource[]>('GET', '/v1/webhooks')).body).toEqual([]);
    expect((await history()).map((row) => row['change'])).toEqual(['criacao', 'desativacao']);
  });

  test('lets what is in flight end: a success counts, a failure is suspended when its lane is looked at', async () => {
    await partner.emit();
    await partner.emit();
    let answered = 0;
    const { promise: both, resolve } = Promise.withResolvers<void>();
    const answers: (() => void)[] = [];
    world.receiver.answerWith((_post, response) => {
      answered += 1;
      const code = answered === 1 ? 200 : 500;
      answers.push(() => void response.writeHead(code).end());
      if (answered === 2) resolve();
    }, webhook.path);
    const turning = world.engine.poll();
    await both;
    expect((await patch({ ativo: false })).status).toBe(200);
    expect(await statuses()).toEqual(['pendente', 'pendente']);
    for (const answer of answers) answer();
    await turning;
    expect((await statuses()).toSorted()).toEqual(['entregue', 'pendente']);
    await world.deliver();
    expect((await statuses()).toSorted()).toEqual(['entregue', 'suspensa']);
    expect(world.postsTo(webhook.path)).toHaveLength(2);
  });

  test('is carried on by the claims where the request stopped, retries that are not due included', async () => {
    await commitEvents(sql, partner.id, 2100);
    await sql`update deliveries set next_attempt_at = now() + interval '6 hours' where webhook_id = ${webhook.id}`;
    await sql`update webhooks set active = false where id = ${webhook.id}`;
    for (let poll = 0; poll < 5; poll += 1) await world.engine.poll();
    expect(new Set(await statuses())).toEqual(new Set(['suspensa']));
    expect(await statuses()).toHaveLength(2_100);
  });

  test('of thousands of deliveries is done in batches within the request', async () => {
    await commitEvents(sql, partner.id, 2100);
    expect((await partner.send('DELETE', path)).status).toBe(204);
    expect(new Set(await statuses())).toEqual(new Set(['suspensa']));
    expect((await patch({ ativo: true, retomar: true })).status).toBe(200);
    expect(new Set(await statuses())).toEqual(new Set(['pendente']));
    await partner.send('DELETE', path);
  });
});

describe('a re-activation', () => {
  test('leaves what is suspended alone unless asked to resume it, where its schedule stood', async () => {
    world.receiver.answerWith(status(500), webhook.path);
    await partner.emit();
    await world.deliver();
    await partner.send('DELETE', path);
    world.receiver.answerWith(status(200), webhook.path);
    expect((await patch({ ativo: true })).body.ativo).toBe(true);
    await world.deliver();
    expect(await statuses()).toEqual(['suspensa']);
    expect((await patch({ ativo: true, retomar: true })).status).toBe(200);
    const [resumed] = await readDeliveries(world.api.database.sql, webhook.id);
    expect(resumed).toMatchObject({ status: 'pendente', failures: 1, attempts: 1 });
    await world.deliver();
    expect(await statuses()).toEqual(['entregue']);
    expect((await history()).map((row) => row['change'])).toEqual(['criacao', 'desativacao', 'reativacao']);
  });

  test('holds to the limit of 50, also against others and creations that arrive together', async () => {
    const ids = [webhook.id];
    for (let count = 1; count < 50; count += 1) ids.push((await partner.register()).id);
    for (const id of ids.slice(0, 6)) await partner.send('DELETE', `/v1/webhooks/${id}`);
    const answers = await Promise.all([
      ...ids.slice(0, 6).map((id) => partner.send('PATCH', `/v1/webhooks/${id}`, { ativo: true })),
      ...Array.from({ length: 4 }, () =>
        partner.send('POST', '/v1/webhooks', { url: webhook.url, eventos: ['repasse.processado'] }),
      ),
    ]);
    expect(answers.filter((answer) => answer.status < 300)).toHaveLength(6);
    const refused = answers.filter((answer) => answer.status === 409);
    expect(refused.map((answer) => answer.body.codigo)).toEqual(Array.from({ length: 4 }, () => 'LIMITE_DE_WEBHOOKS'));
    expect((await partner.send<unknown[]>('GET', '/v1/webhooks')).body).toHaveLength(50);
  });
});

test('the row of a lost attempt names the URL that its claim had read', async () => {
  world.receiver.answerWith(hang(), webhook.path);
  await partner.emit();
  const [lost] = await readDeliveries(sql, webhook.id);
  await insertClaim(sql, 'dead/1', [String(lost?.id)], 46);
  await sql`update webhook_history set changed_at = changed_at - interval '1 hour' where webhook_id = ${webhook.id}`;
  await patch({ url: `${world.receiver.url}/elsewhere` });
  await world.api.database.pool.transaction((tx) => rescueOverdue(tx));
  await world.deliver();
  const rows = await sql`select number, outcome, url from attempts where webhook_id = ${webhook.id} order by number`;
  expect(rows).toEqual([
    { number: 1, outcome: 'desconhecido', url: webhook.url },
    { number: 2, outcome: 'entregue', url: `${world.receiver.url}/elsewhere` },
  ]);
});

test('deactivated webhooks are listed when asked for, oldest first and page by page', async () => {
  const others = [await partner.register(), await partner.register(), await partner.register()];
  for (const { id } of others.slice(0, 2)) await partner.send('DELETE', `/v1/webhooks/${id}`);
  const ids = [webhook, ...others].map(({ id }) => id);
  const listed = async (query: string) => {
    const { body, headers } = await partner.send<{ id: string; ativo: boolean }[]>('GET', `/v1/webhooks${query}`);
    return {
      ids: body.map(({ id }) => id),
      active: body.map(({ ativo }) => ativo),
      next: headers.get('X-Proximo-Cursor'),
    };
  };
  const active = { ids: [ids[0], ids[3]], active: [true, true], next: null };
  expect(await listed('')).toEqual(active);
  expect(await listed('?ativo=true')).toEqual(active);
  expect(await listed('?ativo=false')).toEqual({ ids: ids.slice(1, 3), active: [false, false], next: null });
  expect((await listed('?ativo=todos')).ids).toEqual(ids);
  const first = await listed('?ativo=todos&limite=3');
  expect(first.ids).toEqual(ids.slice(0, 3));
  expect(await listed(`?ativo=todos&cursor=${first.next}`)).toEqual({ ids: ids.slice(3), active: [true], next: null });
  for (const query of ['?ativo=sim', '?ativo=', `?ativo=false&cursor=${first.next}`]) {
    expect((await partner.send('GET', `/v1/webhooks${query}`)).status).toBe(400);
  }
});
