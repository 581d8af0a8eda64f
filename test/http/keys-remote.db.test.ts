/** An issuer that goes away and comes back, seen through the API. */
import type { JWK } from 'jose';
import { beforeEach, describe, expect, test } from 'vitest';
import type { KeySource } from '../../src/http/auth/keys.ts';
import { createRemoteKeys, type RemoteKeys } from '../../src/http/auth/keys-remote.ts';
import { startApi } from '../support/api.ts';
import { endOf } from '../support/ends.ts';
import {
  AUDIENCE,
  createSigningKey,
  goodClaims,
  ISSUER,
  sign,
  startKeySet,
  type KeySetServer,
  type SigningKey,
} from '../support/issuer.ts';

let keySet: KeySetServer;
let remote: RemoteKeys;
let known: SigningKey;
let rotated: SigningKey;
/** Those of the test that runs. */
const keys: KeySource = { find: (header, token) => remote.find(header, token), clockToleranceS: 5 };
const api = await startApi({ tokens: { keys, issuer: ISSUER, audience: AUDIENCE } });
const partnerId = await api.partner();

beforeEach(async () => {
  [known, rotated] = await Promise.all([createSigningKey('ES256', 'known'), createSigningKey('ES256', 'rotated')]);
  keySet = await startKeySet([known.publicJwk]);
  remote = createRemoteKeys({ url: keySet.url, cooldownMs: 100, timeoutMs: 60_000 });
  endOf(() => remote.close());
});

async function ask(key: SigningKey) {
  const token = await sign(key, goodClaims({ parceiro_id: partnerId, scope: 'webhooks:read' }));
  return api.send('GET', '/v1/webhooks', { token });
}

const cooldown = () => new Promise((resolve) => setTimeout(resolve, 120));

describe('an outage of the issuer', () => {
  test('is 503 with Retry-After before the first key set, and passes by itself', async () => {
    await keySet.stop();
    const answer = await ask(known);
    expect([answer.status, answer.body.codigo]).toEqual([503, 'INDISPONIVEL']);
    expect(answer.headers.get('Retry-After')).toMatch(/^\d+$/);
    expect((await ask(known)).status).toBe(503);
    await keySet.restart();
    await cooldown();
    expect((await ask(known)).status).toBe(200);
  });

  test('leaves known keys working and makes unknown keys 503, never 401', async () => {
    expect((await ask(known)).status).toBe(200);
    await keySet.stop();
    expect((await ask(known)).status).toBe(200);
    expect((await ask(rotated)).status).toBe(503);
    expect((await ask(rotated)).status).toBe(503);
    await expect(remote.reload()).rejects.toThrow('out of reach');
    expect((await ask(known)).status).toBe(200);
  });

  test('counts a key set that is no key set', async () => {
    keySet.publish('nonsense' as never);
    expect((await ask(known)).status).toBe(503);
  });
});

describe('a key set that is broken', () => {
  const bad = { x: '!', y: '?' };
  const sets: [string, () => readonly JWK[]][] = [
    ['has its keys cut short', () => [{ ...known.publicJwk, x: known.publicJwk.x?.slice(0, 20) ?? '' }]],
    ['has keys that are no point of their curve', () => [{ ...known.publicJwk, ...bad }]],
    ['has keys without a type', () => [{ kid: 'known', alg: 'ES256' }]],
    ['has a key of a type that there is not', () => [{ ...known.publicJwk, kty: 'ec' }]],
    ['has a private key', () => [{ ...known.publicJwk, d: known.publicJwk.x ?? '' }]],
    [
      'has an RSA key that is too short',
      () => [{ kty: 'RSA', alg: 'RS256', kid: 'known', e: 'AQAB', n: 'u'.repeat(86) }],
    ],
    ['has a key that is none', () => [null as never]],
    ['has a broken key beside a good one', () => [{ ...known.publicJwk, ...bad }, rotated.publicJwk]],
    ['has keys of other uses alone', () => [{ ...known.publicJwk, use: 'enc' }]],
    ['is empty', () => []],
  ];

  test.each(sets)('and %s is an outage: the last good set serves on', async (_what, publish) => {
    expect((await ask(known)).status).toBe(200);
    keySet.publish(publish());
    await expect(remote.reload()).rejects.toThrow('cannot be used');
    expect((await ask(known)).status).toBe(200);
    expect((await ask(await createSigningKey('ES256', 'nobody'))).status).toBe(503);
    keySet.publish([rotated.publicJwk]);
    await remote.reload();
    expect([(await ask(known)).status, (await ask(rotated)).status]).toEqual([401, 200]);
  });

  test.each(sets)('and %s is 503 and never 401 where there was none before', async (_what, publish) => {
    keySet.publish(publish());
    expect((await ask(known)).status).toBe(503);
  });

  test('serves its good keys, also when it is the first one', async () => {
    keySet.publish([{ ...known.publicJwk, ...bad }, rotated.publicJwk]);
    expect([(await ask(rotated)).status, (await ask(known)).status]).toEqual([200, 503]);
  });

  test('serves its good keys beside the last good set', async () => {
    expect((await ask(known)).status).toBe(200);
    keySet.publish([{ ...known.publicJwk, ...bad }, rotated.publicJwk]);
    await remote.reload().catch(() => undefined);
    expect((await ask(rotated)).status).toBe(200);
  });

  test('is not one that has keys for others beside ours', async () => {
    const foreign = [
      { kty: 'EC', crv: 'secp256k1', kid: 'a', x: 'AA', y: 'AA' },
      { kty: 'oct', kid: 'b', k: 'AA' },
      { kty: 'RSA', use: 'enc', alg: 'RSA-OAEP', kid: 'c', n: 'AA', e: 'AQAB' },
      { kty: 'AKP', alg: 'ML-DSA-44', kid: 'd', pub: 'AA' },
    ] as JWK[];
    keySet.publish([...foreign, known.publicJwk]);
    expect([(await ask(known)).status, (await ask(rotated)).status]).toEqual([200, 401]);
  });
});

describe('a rotation of keys', () => {
  test('is noticed at the first token of the new key', async () => {
    expect((await ask(known)).status).toBe(200);
    keySet.publish([known.publicJwk, rotated.publicJwk]);
    expect((await ask(rotated)).status).toBe(200);
  });

  test('withdraws the old key with the next reload', async () => {
    expect((await ask(known)).status).toBe(200);
    keySet.publish([rotated.publicJwk]);
    await remote.reload();
    expect((await ask(known)).status).toBe(401);
  });
});

test('unknown keys ask the issuer once in a cooldown, however many they are', async () => {
  remote.close();
  remote = createRemoteKeys({ url: keySet.url, cooldownMs: 600_000, timeoutMs: 60_000 });
  await remote.reload();
  const before = keySet.asked();
  const statuses = await Promise.all(Array.from({ length: 20 }, async () => (await ask(rotated)).status));
  expect(new Set(statuses)).toEqual(new Set([401]));
  expect(keySet.asked() - before).toBe(1);
});
