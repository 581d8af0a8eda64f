import { createHmac } from 'node:crypto';
import type { JWTPayload } from 'jose';
import { describe, expect, test } from 'vitest';
import { LOAN_EXAMPLE } from '../../src/contract/resources/loan-example.ts';
import { createRemoteKeys } from '../../src/http/auth/keys-remote.ts';
import { startApi } from '../support/api.ts';
import { endOf } from '../support/ends.ts';
import {
  ALGORITHMS,
  AUDIENCE,
  createSigningKey,
  goodClaims,
  ISSUER,
  sign,
  startKeySet,
  type SigningKey,
} from '../support/issuer.ts';

const PATH = '/v1/webhooks';

const keys = await Promise.all(ALGORITHMS.map((alg) => createSigningKey(alg)));
const key: SigningKey = keys.find(({ alg }) => alg === 'ES256') as SigningKey;
const keySet = await startKeySet(keys.map(({ publicJwk }) => publicJwk));
const remote = createRemoteKeys({ url: keySet.url, cooldownMs: 0 });
const api = await startApi({ tokens: { keys: remote, issuer: ISSUER, audience: AUDIENCE } });
const partnerId = await api.partner();
endOf(() => remote.close());

const partnerClaims = (claims: Readonly<Record<string, unknown>> = {}): JWTPayload =>
  goodClaims({ parceiro_id: partnerId, scope: 'webhooks:read', ...claims });

async function statusFor(token: string): Promise<number> {
  return (await api.send('GET', PATH, { token })).status;
}

/** What a refusal consists of; the answer's body must hold these fields and no other. */
async function refusal(authorization: string | undefined) {
  const headers: Record<string, string> = authorization === undefined ? {} : { Authorization: authorization };
  const { status, body, headers: answered } = await api.send('GET', PATH, { headers });
  const { codigo, mensagem, requisicao_id: requestId, ...rest } = body;
  const isComplete = mensagem.length > 0 && requestId === answered.get('X-Request-Id');
  return { status, codigo, isComplete, rest, challenge: answered.get('WWW-Authenticate') };
}

const REFUSED = {
  status: 401,
  codigo: 'CREDENCIAL_INVALIDA',
  isComplete: true,
  rest: {},
  challenge: 'Bearer error="invalid_token"',
};

const now = () => Math.floor(Date.now() / 1_000);
const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

describe('a good token', () => {
  test.each(ALGORITHMS)('signed with %s is accepted', async (alg) => {
    const signer = keys.find((one) => one.alg === alg) as SigningKey;
    expect(await statusFor(await sign(signer, partnerClaims()))).toBe(200);
  });

  test('may carry its scopes as an array in scp, its audience as a list, and no key id', async () => {
    const claims = partnerClaims({ scope: undefined, scp: ['webhooks:read'], aud: ['other', AUDIENCE] });
    expect(await statusFor(await sign(key, claims, {}))).toBe(200);
  });

  test('may write to the log with the longest sub', async () => {
    const token = await sign(key, partnerClaims({ scope: 'emprestimos:write', sub: 'ã'.repeat(255) }));
    const sending = { token, body: LOAN_EXAMPLE, headers: { 'Idempotency-Key': 'one' } };
    expect((await api.send('POST', '/v1/emprestimos', sending)).status).toBe(201);
  });

  test('is accepted whatever the case of the scheme', async () => {
    const token = await sign(key, partnerClaims());
    const answer = await api.send('GET', PATH, { headers: { Authorization: `bEARER ${token}` } });
    expect(answer.status).toBe(200);
  });

  test('without a key id is tried on every key that fits', async () => {
    const twin = await createSigningKey('ES256', 'twin');
    keySet.publish([twin, ...keys].map(({ publicJwk }) => publicJwk));
    await remote.reload();
    expect(await statusFor(await sign(key, partnerClaims(), {}))).toBe(200);
    expect(await statusFor(await sign(twin, partnerClaims(), {}))).toBe(200);
    expect(await refusal(`Bearer ${await sign(await createSigningKey('ES256', 'x'), partnerClaims(), {})}`)).toEqual(
      REFUSED,
    );
  });
});

describe('401 is the answer to', () => {
  test('no token', async () => {
    expect(await refusal(undefined)).toEqual({ ...REFUSED, challenge: 'Bearer' });
  });

  test.each(['Basic dXNlcjpwYXNz', 'Bearer', 'Bearer a b', 'Bearer not.a.token', 'Bearer ....', 'Bearer é'])(
    'the header %j',
    async (header) => {
      expect(await refusal(header)).toEqual(REFUSED);
    },
  );

  const spoiled: readonly [string, () => Record<string, unknown>][] = [
    ['an expired token', () => ({ exp: now() - 6 })],
    ['a token without exp', () => ({ exp: undefined })],
    ['a token issued in the future', () => ({ iat: now() + 7 })],
    ['a token without iat', () => ({ iat: undefined })],
    ['a token without sub', () => ({ sub: undefined })],
    ['a token with an empty sub', () => ({ sub: '' })],
    ['a token with a sub of 256 characters', () => ({ sub: 'a'.repeat(256) })],
    ['a token with a sub of two lines', () => ({ sub: 'a\u2028b' })],
    ['a token without iss', () => ({ iss: undefined })],
    ['a token without aud', () => ({ aud: undefined })],
    ['another issuer', () => ({ iss: 'https://other.example' })],
    ['another audience', () => ({ aud: 'other' })],
    ['a token that is not valid yet', () => ({ nbf: now() + 60 })],
    ['an exp that is no number', () => ({ exp: 'tomorrow' })],
    ['an unknown partner', () => ({ parceiro_id: '0198a000-0000-7000-8000-000000000001' })],
    ['a partner that is no UUID', () => ({ parceiro_id: "'; drop table partners" })],
    ['a partner that is no text', () => ({ parceiro_id: 7 })],
    ['a token without a partner', () => ({ parceiro_id: undefined })],
    ['an auditor with a scope of partners', () => ({ parceiro_id: undefined, scope: 'auditoria:read webhooks:read' })],
  ];
  test.each(spoiled)('%s', async (_name, claims) => {
    expect(await refusal(`Bearer ${await sign(key, partnerClaims(claims()))}`)).toEqual(REFUSED);
  });

  test('an inactive partner', async () => {
    const inactive = await api.partner({ active: false });
    expect(await refusal(`Bearer ${await sign(key, partnerClaims({ parceiro_id: inactive }))}`)).toEqual(REFUSED);
  });

  test('a partner that was deactivated a moment ago', async () => {
    const leaving = await api.partner();
    const token = await sign(key, partnerClaims({ parceiro_id: leaving }));
    expect(await statusFor(token)).toBe(200);
    await api.database.sql`update partners set active = false where id = ${leaving}`;
    expect(await refusal(`Bearer ${token}`)).toEqual(REFUSED);
  });

  test('a signature by another key under a known key id', async () => {
    const forger = await createSigningKey('ES256', key.kid);
    expect(await refusal(`Bearer ${await sign(forger, partnerClaims())}`)).toEqual(REFUSED);
  });

  test('a key id that the issuer does not know', async () => {
    expect(await refusal(`Bearer ${await sign(key, partnerClaims(), { kid: 'unknown' })}`)).toEqual(REFUSED);
  });

  test('claims changed after signing', async () => {
    const [header, , signature] = (await sign(key, partnerClaims())).split('.');
    expect(await refusal(`Bearer ${header}.${encode(partnerClaims({ scope: 'sandbox' }))}.${signature}`)).toEqual(
      REFUSED,
    );
  });

  test('an unsigned token', async () => {
    expect(await refusal(`Bearer ${encode({ alg: 'none' })}.${encode(partnerClaims())}.`)).toEqual(REFUSED);
  });

  test('a symmetric signature keyed with the public key', async () => {
    const rsa = keys.find(({ alg }) => alg === 'RS256') as SigningKey;
    const signed = `${encode({ alg: 'HS256', kid: rsa.kid })}.${encode(partnerClaims())}`;
    const digest = createHmac('sha256', JSON.stringify(rsa.publicJwk)).update(signed).digest('base64url');
    expect(await refusal(`Bearer ${signed}.${digest}`)).toEqual(REFUSED);
  });

  test("a token of the service's own keys, when an issuer is configured", async () => {
    expect(await refusal(`Bearer ${await api.token(partnerId, ['webhooks:read'])}`)).toEqual(REFUSED);
  });
});

describe('403 is the answer to', () => {
  test.each([
    ['a token without scopes', {}],
    ['a token with other scopes', { scope: 'webhooks:write sandbox' }],
    ['a scope that only begins alike', { scope: 'webhooks:reader' }],
    ['an auditor on the route of a partner', { scope: 'auditoria:read', parceiro_id: undefined }],
  ])('%s', async (_name, claims) => {
    const token = await sign(key, partnerClaims({ scope: undefined, ...claims }));
    const answer = await api.send('GET', PATH, { token });
    expect([answer.status, answer.body.codigo]).toEqual([403, 'ESCOPO_INSUFICIENTE']);
    expect(answer.headers.get('WWW-Authenticate')).toContain('insufficient_scope');
  });

  test('a write with the read scope', async () => {
    const answer = await api.send('POST', PATH, { token: await sign(key, partnerClaims()), body: {} });
    expect(answer.status).toBe(403);
  });
});

test('no answer and no log line holds a token', async () => {
  const token = await sign(key, partnerClaims({ exp: now() - 60 }));
  const answer = await api.send('GET', PATH, { token });
  expect(`${answer.text}${JSON.stringify(api.lines)}`).not.toContain(token.split('.')[1]);
});
