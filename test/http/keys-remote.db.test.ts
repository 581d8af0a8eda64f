/** An issuer that goes away and comes back, seen through the API. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createRemoteKeys, type RemoteKeys } from '../../src/http/keys-remote.ts';
import { startApi, type TestApi } from '../support/api.ts';
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
let api: TestApi;
let known: SigningKey;
let rotated: SigningKey;
let partnerId: string;

beforeEach(async () => {
  [known, rotated] = await Promise.all([createSigningKey('ES256', 'known'), createSigningKey('ES256', 'rotated')]);
  keySet = await startKeySet([known.publicJwk]);
  remote = createRemoteKeys({ url: keySet.url, cooldownMs: 100, timeoutMs: 60_000 });
  api = await startApi({ tokens: { keys: remote, issuer: ISSUER, audience: AUDIENCE } });
  partnerId = await api.partner();
});
afterEach(async () => {
  remote.close();
  await keySet.stop().catch(() => undefined);
  await api.close();
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
  await api.close();
  remote = createRemoteKeys({ url: keySet.url, cooldownMs: 600_000, timeoutMs: 60_000 });
  api = await startApi({ tokens: { keys: remote, issuer: ISSUER, audience: AUDIENCE } });
  partnerId = await api.partner();
  await remote.reload();
  const before = keySet.asked();
  const statuses = await Promise.all(Array.from({ length: 20 }, async () => (await ask(rotated)).status));
  expect(new Set(statuses)).toEqual(new Set([401]));
  expect(keySet.asked() - before).toBe(1);
});
