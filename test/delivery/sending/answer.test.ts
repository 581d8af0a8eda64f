import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { bodyOf, keptAnswer } from '../../../src/delivery/sending/answer.ts';
import { prepareCredentials, sendWith } from '../../../src/delivery/sending/credentials.ts';
import { DELIVERED } from '../../support/delivered.ts';

const kept = (body: string | Buffer, isCut = false) => keptAnswer({}, Buffer.from(body), isCut);

describe('what is kept of an answer', () => {
  test('is its header fields, each value on a line of its own, an empty line and its body', () => {
    const headers = { 'content-type': 'text/plain', via: ['1.1 a', '1.1 b'], 'x-empty': '' };
    expect(keptAnswer(headers, Buffer.from('a\n\nb'), false)).toBe(
      'content-type: text/plain\nvia: 1.1 a\nvia: 1.1 b\nx-empty: \n\na\n\nb',
    );
    expect(bodyOf('content-type: text/plain\n\na\n\nb')).toBe('a\n\nb');
    expect(bodyOf(kept('\n\nb') ?? '')).toBe('\n\nb');
    expect(keptAnswer({}, Buffer.alloc(0), false)).toBe(null);
  });

  test.each([
    'set-cookie',
    'authorization',
    'www-authenticate',
    'x-api-key',
    'x-amz-security-token',
    'x-client-secret',
  ])('is never the value of %s', (name) =>
    expect(keptAnswer({ [name]: 'SENSITIVE' }, Buffer.alloc(0), false)).toBe(`${name}: ***********\n\n`),
  );

  test.each([
    ['Bearer realm="x", error="invalid_token"', 'Bearer ***********'],
    ['Negotiate c2Vuc2l0aXZl', 'Negotiate ***********'],
    ['basic', 'basic ***********'],
    ['SENSITIVE', '***********'],
  ])('is of the challenge %s the scheme alone', (value, shown) =>
    expect(keptAnswer({ 'www-authenticate': value }, Buffer.alloc(0), false)).toBe(`www-authenticate: ${shown}\n\n`),
  );

  test('is nothing of the connection, and 4 KiB of fields at most', () => {
    const headers = { connection: 'close', 'keep-alive': 'timeout=5', 'transfer-encoding': 'chunked', server: 'x' };
    expect(keptAnswer(headers, Buffer.alloc(0), false)).toBe('server: x\n\n');
    const many = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`x-${index}`, 'v'.repeat(90)]));
    expect(keptAnswer(many, Buffer.alloc(0), false)?.length).toBeGreaterThan(3_900);
    expect(keptAnswer(many, Buffer.alloc(0), false)?.length).toBeLessThanOrEqual(4_097);
  });

  test('is text: bytes that are none become replacement signs', () => {
    expect(kept(Buffer.from([0x6f, 0xff, 0x00, 0x6b]))).toBe('\no��k');
  });

  test('has no number at its cut, which may be the beginning of a CPF', () => {
    expect(kept('trabalhador 529.982.2', true)).toBe('\ntrabalhador ***********');
    expect(kept(Buffer.from('caf\u00e9 529 \u00e9').subarray(0, -1), true)).toBe('\ncafé ***********');
    expect(kept('pedido 529')).toBe('\npedido 529');
  });
});

test('an answer that repeats a short secret is kept no longer than its row may be', async () => {
  const rule = await readFile(
    new URL('../../../drizzle/functions/delivery/is_sound_attempt.sql', import.meta.url),
    'utf8',
  );
  const most = Number(/length\(answer\) operator\(pg_catalog\.<=\) (\d+)/.exec(rule)?.[1]);
  const answer = keptAnswer({ server: 'x' }, Buffer.from('abcd'.repeat(2_048)), false);
  const send = () => Promise.resolve({ ...DELIVERED, answer });
  const credentials = prepareCredentials({ cabecalhos: { 'X-Chave': 'abcd' } });
  const request = { url: 'https://partner.example/', body: Buffer.alloc(0), headers: [] };
  const sent = await sendWith(credentials, request, 0, { send, tokens: {} as never, now: () => 0 });
  expect(sent.answer).toMatch(/^server: x\n\n\*+$/);
  expect(sent.answer?.length).toBeLessThanOrEqual(most);
});
