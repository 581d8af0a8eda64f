import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose';
import { beforeEach, expect, test } from 'vitest';
import { openLocalKeys } from '../../src/http/auth/keys-local.ts';
import { callCommand } from '../support/command.ts';
import { makeTestFolder } from '../support/test-folder.ts';

const WHO = { issuer: 'carteiro', audience: 'carteiro-api' };
let dataDir: string;
beforeEach(async () => {
  dataDir = join((await makeTestFolder()).path, 'data');
});

test('many that need the key first at once end up with one key, and no draft stays behind', async () => {
  const opened = await Promise.all(Array.from({ length: 10 }, () => openLocalKeys({ dataDir, ...WHO })));
  const tokens = await Promise.all(opened.map((keys) => keys.signToken({ scopes: ['sandbox'], ttlSeconds: 60 })));
  expect(new Set(tokens.map((token) => decodeProtectedHeader(token).kid)).size).toBe(1);
  for (const token of tokens) await jwtVerify(token, (opened[0] as (typeof opened)[0]).find, WHO);
  expect(await readdir(dataDir)).toEqual(['token-key.json']);
});

test('the key file and its folder are for their owner alone', async () => {
  await openLocalKeys({ dataDir, ...WHO });
  expect((await stat(join(dataDir, 'token-key.json'))).mode & 0o777).toBe(0o600);
  expect((await stat(dataDir)).mode & 0o777).toBe(0o700);
});

test('a token says who, for whom, until when and what for', async () => {
  const keys = await openLocalKeys({ dataDir, ...WHO });
  const token = await keys.signToken({ partnerId: 'p', scopes: ['webhooks:read', 'sandbox'], ttlSeconds: 90 });
  const claims = decodeJwt(token);
  expect(claims).toMatchObject({ iss: WHO.issuer, aud: WHO.audience, sub: 'p', parceiro_id: 'p' });
  expect(claims['scope']).toBe('webhooks:read sandbox');
  expect((claims.exp as number) - (claims.iat as number)).toBe(90);
});

test('the command names who uses the token, and refuses a name that the log would not keep', async () => {
  const env = { DATA_DIR: dataDir, SANDBOX: 'true' };
  const made = await callCommand(['token', '--scope', 'operador', '--sub', 'ana@credor'], env);
  expect(decodeJwt(made.stdout.trim())).toMatchObject({ sub: 'ana@credor', scope: 'operador' });
  const refused = await callCommand(['token', '--scope', 'operador', '--sub', 'a\nb'], env);
  expect(refused).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('--sub') as string });
});

test("an auditor's token names no partner", async () => {
  const keys = await openLocalKeys({ dataDir, ...WHO });
  const claims = decodeJwt(await keys.signToken({ scopes: ['auditoria:read'], ttlSeconds: 1 }));
  expect(claims).not.toHaveProperty('parceiro_id');
});
