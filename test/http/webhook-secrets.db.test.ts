import { Webhook as Standard } from 'standardwebhooks';
import { Webhook as Svix } from 'svix';
import { beforeEach, describe, expect, test } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import type { ErrorBody } from '../../src/contract/errors.ts';
import { sign, signingKey } from '../../src/delivery/sending/signature.ts';
import { startDeliveryWorld, useSubscriber } from '../support/delivery-world.ts';
import type { Post } from '../support/receiver.ts';
import { FAILED_MARGIN } from '../support/payloads.ts';

const world = await startDeliveryWorld();
const { sql } = world.api.database;
const { partner, webhook } = useSubscriber(world);

async function nextPost(): Promise<Post> {
  await partner.emit();
  await world.deliver();
  return world.postsTo(webhook.path).at(-1) as Post;
}

function rotate(body?: unknown) {
  return partner.send<{ id: string; secret: string; vale_em: string; anterior_ate: string }>(
    'POST',
    `/v1/webhooks/${webhook.id}/segredo`,
    body,
  );
}

const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();

/** Makes the time come at which the new secret signs. */
async function letTimeCome(): Promise<void> {
  await sql`update webhooks set signs_from = clock_timestamp() - interval '1 ms' where id = ${webhook.id}`;
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
      select append_event(uuidv7(), 0, 'margem.falhou', ${partner.id}, ${FAILED_MARGIN}::text::json, 'test')`;
    await world.deliver();
    expect(world.postsTo(webhook.path).at(-1)?.headers).not.toHaveProperty('x-webhook-loan-version');
  });

  test.each(verifiers)('are verified by %s, which refuses another secret, body, id and time', async (_name, verify) => {
    const emittedAtMs = Date.now();
    const post = await nextPost();
    const receivedAtMs = Date.now();
    const other = (await partner.register()).secret;
    const changed = (headers: Record<string, string>): Post => ({ ...post, headers: { ...post.headers, ...headers } });
    expect(() => verify(webhook.secret, post)).not.toThrow();
    expect(() => verify(other, post)).toThrow(REFUSED);
    expect(() => verify(webhook.secret, { ...post, body: Buffer.from('{}') })).toThrow(REFUSED);
    expect(() => verify(webhook.secret, changed({ 'webhook-id': other }))).toThrow(REFUSED);
    const seconds = Number(post.headers['webhook-timestamp']);
    expect(seconds * 1_000).toBeGreaterThan(emittedAtMs - 1_000);
    expect(seconds * 1_000).toBeLessThanOrEqual(receivedAtMs);
    expect(() => verify(webhook.secret, changed({ 'webhook-timestamp': String(seconds - 1) }))).toThrow(REFUSED);
  });

  test('of a retry keep the id and carry their own time', async () => {
    world.receiver.answerWith((_post, response) => void response.writeHead(500).end(), webhook.path);
    const first = await nextPost();
    await world.api.database.sql`update deliveries set next_attempt_at = now() where webhook_id = ${webhook.id}`;
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
    expect(Object.keys(body)).toEqual(['id', 'secret', 'vale_em', 'anterior_ate']);
    expect(Date.parse(body.anterior_ate) - Date.parse(body.vale_em)).toBe(24 * 3_600_000);
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
      update webhooks set previous_until = clock_timestamp() + interval '1 hour' where id = ${webhook.id}`;
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

  describe('under an Idempotency-Key', () => {
    type Rotated = { secret?: string; anterior_ate: string } & ErrorBody;
    const keyed = (key: string, id = webhook.id) =>
      world.api.send<Rotated>('POST', `/v1/webhooks/${id}/segredo`, { token, headers: { 'Idempotency-Key': key } });
    let token: string;
    beforeEach(async () => {
      token = await world.api.token(partner.id, ['webhooks:write']);
    });
    const shownUntil = (seconds: number) => world.api.database.sql`
      update idempotency_keys
      set body = jsonb_set(body::jsonb, '{shown,until}', to_jsonb(clock_timestamp() + ${seconds} * interval '1 second'))::json
      where partner_id = ${partner.id}`;

    test('can be repeated, secret included, for 60 s and then without it', async () => {
      const first = await keyed('lost-answer');
      const again = await keyed('lost-answer');
      expect(first.body.secret).toMatch(/^whsec_/);
      expect([again.status, again.headers.get('cache-control')]).toEqual([201, 'no-store']);
      expect(again.body).toEqual(first.body);
      const [row] = await world.api.database.sql<[{ left: number }]>`
        select extract(epoch from (body -> 'shown' ->> 'until')::timestamptz - clock_timestamp())::float as left
        from idempotency_keys where partner_id = ${partner.id}`;
      expect(row.left).toBeGreaterThan(30);
      expect(row.left).toBeLessThanOrEqual(60);
      await shownUntil(-0.001);
      const { secret, ...rest } = first.body;
      expect(secret).toBeDefined();
      expect((await keyed('lost-answer')).body).toEqual(rest);
      const rotations = await world.api.database.sql`
        select from webhook_history where webhook_id = ${webhook.id} and change = 'segredo_trocado'`;
      expect(rotations).toHaveLength(1);
    });

    test('keeps nothing of the secret beside the key', async () => {
      const { body } = await keyed('kept');
      const [row] = await world.api.database.sql<[{ kept: string }]>`
        select k::text as kept from idempotency_keys k where partner_id = ${partner.id}`;
      expect(row.kept).not.toContain(body.secret?.slice(6, 20));
      expect(row.kept).not.toContain('whsec_');
      const [encrypted] = await world.api.database.sql<[{ encrypted: Buffer }]>`
        select encrypted_secret as encrypted from webhooks where id = ${webhook.id}`;
      expect(row.kept).not.toContain(encrypted.encrypted.toString('hex').slice(0, 20));
    });

    test('of another webhook is another rotation', async () => {
      const other = await partner.register();
      const [one, two] = [await keyed('both'), await keyed('both', other.id)];
      expect(one.body.secret).not.toBe(two.body.secret);
      expect((await keyed('both', other.id)).body).toEqual(two.body);
    });

    test('shows the secret that it made while a newer one signs, and nothing once that is ended', async () => {
      const first = await keyed('first');
      await partner.send('DELETE', `/v1/webhooks/${webhook.id}/segredo/anterior`);
      const second = await rotate();
      expect(second.body.secret).not.toBe(first.body.secret);
      expect((await keyed('first')).body.secret).toBe(first.body.secret);
      await partner.send('DELETE', `/v1/webhooks/${webhook.id}/segredo/anterior`);
      expect((await keyed('first')).body).not.toHaveProperty('secret');
    });
  });
});

describe('a rotation in two steps', () => {
  const path = (end: string) => `/v1/webhooks/${webhook.id}/segredo/${end}`;
  const signedBy = (secret: string, post: Post) => sign(signingKey(secret), post.body);

  async function historyOf() {
    return world.api.database.sql`
      select change, takes_effect_at as at from webhook_history where webhook_id = ${webhook.id} order by position offset 1`;
  }

  test('shows the new secret, which signs nothing before its time; then it signs, and the one before beside it', async () => {
    const at = inHours(3);
    const { status, body } = await rotate({ vale_em: at });
    expect([status, body.vale_em]).toEqual([201, at]);
    expect(Date.parse(body.anterior_ate) - Date.parse(at)).toBe(24 * 3_600_000);
    const early = await nextPost();
    expect(early.headers['x-webhook-signature']).toBe(signedBy(webhook.secret, early));
    expect(early.headers).not.toHaveProperty('x-webhook-signature-previous');
    expect(early.headers['webhook-signature']).not.toContain(' ');
    expect(() => new Svix(webhook.secret).verify(early.body.toString(), headersOf(early))).not.toThrow();
    await letTimeCome();
    const late = await nextPost();
    expect(late.headers['x-webhook-signature']).toBe(signedBy(body.secret, late));
    expect(late.headers['x-webhook-signature-previous']).toBe(signedBy(webhook.secret, late));
    for (const [, verify] of verifiers) {
      expect(() => verify(body.secret, late)).not.toThrow();
      expect(() => verify(webhook.secret, late)).not.toThrow();
    }
    expect(await historyOf()).toEqual([{ change: 'segredo_agendado', at: new Date(at) }]);
  });

  test('signs at once when it is activated, which may be said twice', async () => {
    const { body } = await rotate({ vale_em: inHours(24) });
    const activated = await partner.send<{ anterior_ate: string }>('POST', path('ativar'));
    expect(activated.status).toBe(200);
    const again = await partner.send<{ anterior_ate: string }>('POST', path('ativar'));
    expect([again.status, again.body.anterior_ate]).toEqual([200, activated.body.anterior_ate]);
    expect(Date.parse(activated.body.anterior_ate)).toBeLessThan(Date.parse(body.anterior_ate));
    const post = await nextPost();
    expect(post.headers['x-webhook-signature']).toBe(signedBy(body.secret, post));
    expect(post.headers['x-webhook-signature-previous']).toBe(signedBy(webhook.secret, post));
    expect((await historyOf()).map((row) => row['change'])).toEqual(['segredo_agendado', 'segredo_ativado']);
  });

  test('is dropped while it waits, and leaves the secret as it was', async () => {
    await rotate({ vale_em: inHours(1) });
    expect((await partner.send('DELETE', path('novo'))).status).toBe(204);
    expect((await partner.send('DELETE', path('novo'))).status).toBe(204);
    const post = await nextPost();
    expect(post.headers['x-webhook-signature']).toBe(signedBy(webhook.secret, post));
    expect(post.headers).not.toHaveProperty('x-webhook-signature-previous');
    expect((await historyOf()).map((row) => row['change'])).toEqual(['segredo_agendado', 'segredo_descartado']);
    expect((await rotate()).status).toBe(201);
    const late = await partner.send('DELETE', path('novo'));
    expect([late.status, late.body.codigo]).toEqual([409, 'TRANSICAO_INVALIDA']);
  });

  test('refuses, while it waits, another rotation and the end of the only secret that signs', async () => {
    await rotate({ vale_em: inHours(1) });
    for (const [method, to, says] of [
      ['POST', `/v1/webhooks/${webhook.id}/segredo`, 'segredo/ativar ou descarte-o'],
      ['DELETE', path('anterior'), 'ative antes o novo'],
    ] as const) {
      const answer = await partner.send(method, to);
      expect([answer.status, answer.body.codigo]).toEqual([409, 'TRANSICAO_INVALIDA']);
      expect(answer.body.mensagem).toContain(says);
    }
    await letTimeCome();
    expect((await rotate()).status).toBe(409);
    expect((await partner.send('DELETE', path('anterior'))).status).toBe(204);
    const post = await nextPost();
    expect(post.headers).not.toHaveProperty('x-webhook-signature-previous');
    expect((await rotate()).status).toBe(201);
  });

  test('has nothing to activate where no rotation was asked for', async () => {
    const answer = await partner.send('POST', path('ativar'));
    expect([answer.status, answer.body.codigo]).toEqual([409, 'TRANSICAO_INVALIDA']);
  });

  test.each([
    ['in the past', () => inHours(-0.01)],
    ['more than 24 h ahead', () => inHours(24.01)],
    ['without an offset', () => '2026-01-31T12:00:00'],
    ['that is no instant', () => 'amanhã'],
    ['that is null', () => null],
  ])('is refused with a time %s', async (_name, at) => {
    const answer = await rotate({ vale_em: at() });
    const { codigo, detalhes } = answer.body as unknown as { codigo: string; detalhes: { campo: string }[] };
    expect([answer.status, codigo, detalhes[0]?.campo]).toEqual([400, 'ERRO_VALIDACAO', 'vale_em']);
    expect(await historyOf()).toEqual([]);
  });

  test('takes an empty body for none', async () => {
    expect((await rotate({})).status).toBe(201);
    expect((await historyOf()).map((row) => row['change'])).toEqual(['segredo_trocado']);
  });

  test('goes on while the webhook is deactivated', async () => {
    await partner.send('DELETE', `/v1/webhooks/${webhook.id}`);
    const { body, status } = await rotate({ vale_em: inHours(1) });
    expect(status).toBe(201);
    await letTimeCome();
    await partner.send('PATCH', `/v1/webhooks/${webhook.id}`, { ativo: true });
    const post = await nextPost();
    expect(post.headers['x-webhook-signature']).toBe(signedBy(body.secret, post));
  });

  test('leaves with each attempt the key that had encrypted the secret of the contract’s header', async () => {
    await rotate({ vale_em: inHours(1) });
    await nextPost();
    const [row] = await sql<{ keyId: string; encryptedBy: string }[]>`
      select a.key_id as "keyId", convert_from(substring(w.previous_encrypted_secret for 8), 'UTF8') as "encryptedBy"
      from attempts a join webhooks w on w.id = a.webhook_id where w.id = ${webhook.id}`;
    expect(row?.keyId).toBe(row?.encryptedBy);
  });
});
