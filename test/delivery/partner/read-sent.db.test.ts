/** What was sent, made again from what is kept: the same signatures that the receiver got, or none. */
import { expect, test } from 'vitest';
import { readSent } from '../../../src/delivery/partner/read-sent.ts';
import { startDeliveryWorld } from '../../support/delivery-world.ts';
import { status } from '../../support/receiver.ts';

const world = await startDeliveryWorld();

const CONTRACT = 'X-Webhook-Signature';
const PREVIOUS = 'X-Webhook-Signature-Previous';

async function sentOnce() {
  const partner = await world.subscriber();
  const webhook = await partner.register();
  world.receiver.answerWith(status(503), webhook.path);
  await partner.emit();
  await world.deliver();
  const { sql } = world.api.database;
  const [{ id }] = await sql<[{ id: string }]>`select id from deliveries where webhook_id = ${webhook.id}`;
  return {
    partner,
    webhook,
    id,
    posts: () => world.postsTo(webhook.path),
    read: async () =>
      readSent(world.api.database.pool, (one, sealed) => world.api.vault.decrypt(one, sealed), partner.id, id, [1, 2]),
    rotate: () => partner.send('POST', `/v1/webhooks/${webhook.id}/segredo`),
    /** As if every change of the secret had come so many hours later, or earlier. */
    shift: (hours: number) => sql`
      update webhook_history set changed_at = changed_at + ${hours} * interval '1 hour'
      where webhook_id = ${webhook.id} and change <> 'criacao'`,
  };
}

function header(headers: readonly (readonly [string, string])[] = [], name: string): string | undefined {
  return headers.find(([known]) => known === name)?.[1];
}

test('the bytes and both signatures are those that the receiver got', async () => {
  const { posts, read } = await sentOnce();
  const sent = await read();
  const [post] = posts();
  expect(sent?.body).toEqual(post?.body);
  expect(sent?.failures).toBe(1);
  const headers = sent?.attempts[0]?.headers;
  expect(header(headers, CONTRACT)).toBe(post?.headers['x-webhook-signature']);
  expect(headers?.map(([name]) => name.toLowerCase()).toSorted()).toEqual(
    Object.keys(post?.headers ?? {})
      .filter((name) => !['host', 'connection', 'content-length'].includes(name))
      .toSorted(),
  );
});

test('an attempt before a rotation is signed by the secret before it, alone', async () => {
  const { posts, read, rotate, shift } = await sentOnce();
  await rotate();
  await shift(1);
  const attempt = (await read())?.attempts[0];
  expect(attempt?.isSigned).toBe(true);
  expect(header(attempt?.headers, CONTRACT)).toBe(posts()[0]?.headers['x-webhook-signature']);
  expect(header(attempt?.headers, PREVIOUS)).toBeUndefined();
});

test('an attempt after a rotation is signed by both', async () => {
  const { partner, id, posts, read, rotate, shift } = await sentOnce();
  await rotate();
  await partner.send('POST', `/v1/entregas/${id}/reenvio`);
  await world.deliver();
  await shift(-1);
  const attempt = (await read())?.attempts[1];
  expect(header(attempt?.headers, CONTRACT)).toBe(posts()[1]?.headers['x-webhook-signature']);
  expect(header(attempt?.headers, PREVIOUS)).toBe(posts()[1]?.headers['x-webhook-signature-previous']);
});

test('an attempt in the minute of a rotation, or of a secret that nobody keeps, shows no signature', async () => {
  const near = await sentOnce();
  await near.rotate();
  const attempt = (await near.read())?.attempts[0];
  expect(attempt?.isSigned).toBe(false);
  expect(attempt?.headers.filter(([name]) => /signature/i.test(name))).toEqual([]);

  const gone = await sentOnce();
  await gone.rotate();
  await gone.partner.send('DELETE', `/v1/webhooks/${gone.webhook.id}/segredo/anterior`);
  await gone.shift(1);
  expect((await gone.read())?.attempts[0]?.isSigned).toBe(false);
});

test('another partner’s delivery is none', async () => {
  const { id } = await sentOnce();
  const open = () => {
    throw new Error('no secret is opened');
  };
  expect(await readSent(world.api.database.pool, open, await world.api.partner(), id, [1])).toBeNull();
});
