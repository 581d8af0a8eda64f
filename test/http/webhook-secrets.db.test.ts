import { Webhook as Standard } from 'standardwebhooks';
import { Webhook as Svix } from 'svix';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { sign, signingKey } from '../../src/delivery/signature.ts';
import { type DeliveryWorld, type Registered, startDeliveryWorld, type Subscriber } from '../support/delivery-world.ts';
import type { Post } from '../support/receiver.ts';

let world: DeliveryWorld;
let partner: Subscriber;
let webhook: Registered;
beforeAll(async () => {
  world = await startDeliveryWorld();
});
afterAll(() => world.close());
beforeEach(async () => {
  partner = await world.subscriber();
  webhook = await partner.register();
});

async function nextPost(): Promise<Post> {
  await partner.emit();
  await world.deliver();
  return world.postsTo(webhook.path).at(-1) as Post;
}

function rotate() {
  return partner.send<{ id: string; secret: string; anterior_ate: string }>(
    'POST',
    `/v1/webhooks/${webhook.id}/segredo`,
  );
}

const headersOf = (post: Post) => post.headers as Record<string, string>;

const REFUSED = /signature|secret/i;

/** What each independent receiver says of a POST. */
const verifiers = [
  [
    'standardwebhooks',
    (secret: string, post: Post) => new Standard(secret).verify(post.body.toString(), headersOf(post)),
  ],
  ['svix', (secret: string, post: Post) => new Svix(secret).verify(post.body.toString(), headersOf(post))],
] as const;

describe('the headers of a delivery', () => {
  test('keep the contract’s three and tell the loan’s version', async () => {
    const { headers, body } = await nextPost();
    expect(headers['x-webhook-event']).toBe('desembolso.falhou');
    expect(headers['x-webhook-signature']).toBe(sign(signingKey(webhook.secret), body));
    expect(headers['user-agent']).toBe(`Carteiro/${manifest.version}`);
    expect(headers['webhook-id']).toBe(headers['x-webhook-delivery']);
    expect(headers['x-webhook-loan-version']).toBe('1');
    expect(headers).not.toHaveProperty('x-webhook-signature-previous');
  });

  test('have no loan version where there is no loan', async () => {
    await world.api.database.sql`
      select append_event(uuidv7(), 0, 'margem.falhou', ${partner.id}, '{"tipo_erro":"upstream"}', 'test')`;
    await world.deliver();
    expect(world.postsTo(webhook.path).at(-1)?.headers).not.toHaveProperty('x-webhook-loan-version');
  });

  test.each(verifiers)('are verified by %s, which refuses another secret, body, id and time', async (_name, verify) => {
    const post = await nextPost();
    const other = (await partner.register()).secret;
    const changed = (headers: Record<string, string>): Post => ({ ...post, headers: { ...post.headers, ...headers } });
    expect(() => verify(webhook.secret, post)).not.toThrow();
    expect(() => verify(other, post)).toThrow(REFUSED);
    expect(() => verify(webhook.secret, { ...post, body: Buffer.from('{}') })).toThrow(REFUSED);
    expect(() => verify(webhook.secret, changed({ 'webhook-id': other }))).toThrow(REFUSED);
    const seconds = Number(post.headers['webhook-timestamp']);
    expect(Math.abs(seconds * 1_000 - Date.now())).toBeLessThan(10_000);
    expect(() => verify(webhook.secret, changed({ 'webhook-timestamp': String(seconds - 1) }))).toThrow(REFUSED);
  });

  test('of a retry keep the id and carry their own time', async () => {
    world.receiver.answerWith((_post, response) => void response.writeHead(500).end(), webhook.path);
    const first = await nextPost();
    await world.api.database.sql`update deliveries set next_attempt_at = now() where webhook_id = ${webhook.id}`;
    await world.api.database.sql`insert into arrivals (webhook_id, due_at) values (${webhook.id}, '-infinity')`;
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    await world.deliver();
    const second = world.postsTo(webhook.path).at(-1) as Post;
    expect(second).not.toBe(first);
    expect(second.headers['webhook-id']).toBe(first.headers['webhook-id']);
    expect(Number(second.headers['webhook-timestamp'])).toBeGreaterThan(Number(first.headers['webhook-timestamp']));
    expect(() => new Svix(webhook.secret).verify(second.body.toString(), headersOf(second))).not.toThrow();
  });
});

describe('a rotation', () => {
  test('shows the new secret once, and a delivery made before it is signed by both', async () => {
    await partner.emit();
    const { status, body, headers } = await rotate();
    expect([status, headers.get('cache-control')]).toEqual([201, 'no-store']);
    expect(Object.keys(body)).toEqual(['id', 'secret', 'anterior_ate']);
    expect(body.secret).not.toBe(webhook.secret);
    const hours = (Date.parse(body.anterior_ate) - Date.now()) / 3_600_000;
    expect(hours).toBeGreaterThan(23.9);
    expect(hours).toBeLessThanOrEqual(24.01);
    await world.deliver();
    const post = world.postsTo(webhook.path).at(-1) as Post;
    expect(post.headers['x-webhook-signature']).toBe(sign(signingKey(body.secret), post.body));
    expect(post.headers['x-webhook-signature-previous']).toBe(sign(signingKey(webhook.secret), post.body));
    for (const [, verify] of verifiers) {
      expect(() => verify(body.secret, post)).not.toThrow();
      expect(() => verify(webhook.secret, post)).not.toThrow();
    }
    const read = await partner.send('GET', `/v1/webhooks/${webhook.id}`);
    expect(read.text).not.toContain('whsec_');
    const [row] = await world.api.database.sql`
      select (w::text || (select string_agg(h::text, '') from webhook_history h where h.webhook_id = w.id)) as shown
      from webhooks w where id = ${webhook.id}`;
    expect(row?.['shown']).not.toContain(Buffer.from(body.secret).toString('hex').slice(12, 40));
    expect(JSON.stringify(world.api.lines)).not.toContain(body.secret.slice(6, 20));
  });

  test('ends by itself when its time is over by the database’s clock', async () => {
    const { body } = await rotate();
    await world.api.database.sql`
      update webhooks set previous_until = clock_timestamp() + interval '1 second' where id = ${webhook.id}`;
    expect((await nextPost()).headers['x-webhook-signature-previous']).toBeDefined();
    await world.api.database.sql`
      update webhooks set previous_until = clock_timestamp() - interval '1 millisecond' where id = ${webhook.id}`;
    const post = await nextPost();
    expect(post.headers).not.toHaveProperty('x-webhook-signature-previous');
    expect(post.headers['webhook-signature']).not.toContain(' ');
    expect(() => new Svix(webhook.secret).verify(post.body.toString(), headersOf(post))).toThrow(REFUSED);
    expect(() => new Svix(body.secret).verify(post.body.toString(), headersOf(post))).not.toThrow();
    expect((await rotate()).status).toBe(201);
  });

  test('ends at once when the partner ends it, which may be said twice', async () => {
    await rotate();
    const path = `/v1/webhooks/${webhook.id}/segredo/anterior`;
    expect((await partner.send('DELETE', path)).status).toBe(204);
    expect((await partner.send('DELETE', path)).status).toBe(204);
    expect((await nextPost()).headers).not.toHaveProperty('x-webhook-signature-previous');
  });

  test('is refused while the one before still signs, so that it turns no receiver away', async () => {
    const first = await rotate();
    const second = await rotate();
    expect([second.status, (second.body as unknown as { codigo: string }).codigo]).toEqual([409, 'TRANSICAO_INVALIDA']);
    const post = await nextPost();
    expect(post.headers['x-webhook-signature']).toBe(sign(signingKey(first.body.secret), post.body));
    expect(post.headers['x-webhook-signature-previous']).toBe(sign(signingKey(webhook.secret), post.body));
  });

  test('leaves its lines in the history, in order, with actor and request', async () => {
    const rotated = await rotate();
    const ended = await partner.send('DELETE', `/v1/webhooks/${webhook.id}/segredo/anterior`);
    const rows = await world.api.database.sql`
      select change, actor, request_id, active from webhook_history where webhook_id = ${webhook.id} order by position`;
    expect(rows.slice(1)).toEqual([
      { change: 'segredo_trocado', actor: partner.id, request_id: rotated.headers.get('X-Request-Id'), active: true },
      {
        change: 'segredo_anterior_encerrado',
        actor: partner.id,
        request_id: ended.headers.get('X-Request-Id'),
        active: true,
      },
    ]);
  });

  test('of another partner’s webhook is 404', async () => {
    const other = await world.subscriber();
    expect((await other.send('POST', `/v1/webhooks/${webhook.id}/segredo`)).status).toBe(404);
    expect((await other.send('DELETE', `/v1/webhooks/${webhook.id}/segredo/anterior`)).status).toBe(404);
  });
});
