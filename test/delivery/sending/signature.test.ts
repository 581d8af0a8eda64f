import { createHmac } from 'node:crypto';
import { verify } from '@octokit/webhooks-methods';
import { expect, test } from 'vitest';
import { sign, signingKey, signStandard } from '../../../src/delivery/sending/signature.ts';

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

test.each([0, 15, 31, 63, 64, 65, 16_319, 16_320, 100_000])(
  'both signatures are Node’s own, of a secret and of a body around %i bytes',
  (length) => {
    for (const size of [length, length + 1]) {
      const bytes = Buffer.alloc(size, 'não há margem');
      const secret = `whsec_${bytes.toString('base64')}`;
      expect(sign(signingKey(secret), bytes)).toBe(
        `sha256=${createHmac('sha256', secret).update(bytes).digest('hex')}`,
      );
      expect(signStandard(signingKey(secret), 'id', 1_769_860_800, bytes)).toBe(
        `v1,${createHmac('sha256', bytes).update('id.1769860800.').update(bytes).digest('base64')}`,
      );
    }
  },
);
