import { verify } from '@octokit/webhooks-methods';
import { expect, test } from 'vitest';
import { sign, signingKey } from '../../../src/delivery/sending/signature.ts';

const SECRET = 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=';
const BODY = Buffer.from('{"evento":"averbacao.concluida","data":{"erro":"não há margem"}}');

test('the signature of known bytes is known', () => {
  // openssl dgst -sha256 -hmac "$SECRET"
  expect(sign(signingKey(SECRET), BODY)).toBe(
    'sha256=2d73f7632290e18a2b675b9cb00702ff1597b57a058e42a258d14ab7abf71486',
  );
});

test('an independent receiver accepts the signature', async () => {
  expect(await verify(SECRET, BODY.toString(), sign(signingKey(SECRET), BODY))).toBe(true);
});

test('an independent receiver refuses a body with one byte changed, and another secret', async () => {
  const signature = sign(signingKey(SECRET), BODY);
  expect(await verify(SECRET, BODY.toString().replace('não', 'nao'), signature)).toBe(false);
  expect(await verify(`${SECRET} `, BODY.toString(), signature)).toBe(false);
});

test('the key is the whole secret with its prefix, not the bytes behind it', () => {
  const withoutPrefix = SECRET.slice('whsec_'.length);
  expect(sign(signingKey(SECRET), BODY)).not.toBe(sign(signingKey(withoutPrefix), BODY));
});

test('bytes that are not UTF-8 are signed as they are', () => {
  expect(sign(signingKey(SECRET), Buffer.from([0xff, 0x00]))).not.toBe(
    sign(signingKey(SECRET), Buffer.from([0xfe, 0x00])),
  );
});
