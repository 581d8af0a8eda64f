/** The published vectors of signatures, held against the verifier of each language, our signer and independent libraries. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { sign as signContract } from '@octokit/webhooks-methods';
import { Webhook } from 'standardwebhooks';
import { expect, test, vi } from 'vitest';
import { sign, signingKey, signStandard } from '../../src/delivery/sending/signature.ts';
import contract from '../../src/http/receivers/contract-vectors.json' with { type: 'json' };
import standard from '../../src/http/receivers/standard-vectors.json' with { type: 'json' };
import { type VerifierCase, VERIFIERS } from '../support/verifiers.ts';

interface Published {
  readonly name: string;
  readonly secrets: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly valid: boolean;
}

const STANDARD: readonly (Published & { readonly now: number })[] = standard.vectors;
const CONTRACT: readonly Published[] = contract.vectors;
const [standardFirst, contractFirst] = [STANDARD[0], CONTRACT[0]] as [Published, Published];

const bytes = (text: string) => Buffer.from(text, 'utf8');
const CASES: readonly VerifierCase[] = [
  ...STANDARD.map((vector) => ({ ...vector, function: 'verify' as const, body: bytes(vector.body) })),
  ...CONTRACT.map((vector) => ({ ...vector, function: 'verifyBody' as const, body: bytes(vector.body), now: 0 })),
];
const PUBLISHED = [...STANDARD, ...CONTRACT].map(({ name, valid }) => `${name}: ${valid}`);

test.for(VERIFIERS)(
  'the verifier in $name answers every vector as published',
  async ({ name, needs, isHere, answer }, context) => {
    if (!(await isHere())) context.skip(`the verifier in ${name} was not run: there is no ${needs} on this machine`);
    const names = [...STANDARD, ...CONTRACT];
    expect((await answer(CASES)).map((valid, index) => `${names[index]?.name}: ${String(valid)}`)).toEqual(PUBLISHED);
  },
);

test('the first vectors are what the engine signs, and what independent libraries sign', async () => {
  const { secrets, headers, body } = standardFirst;
  const [secret = ''] = secrets;
  const { 'webhook-id': id = '', 'webhook-timestamp': at, 'webhook-signature': signature } = headers;
  expect(signStandard(signingKey(secret), id, Number(at), bytes(body))).toBe(signature);
  expect(new Webhook(secret).sign(id, new Date(Number(at) * 1_000), body)).toBe(signature);
  const { 'X-Webhook-Signature': hex } = contractFirst.headers;
  expect(sign(signingKey(secret), bytes(body))).toBe(hex);
  expect(await signContract(secret, body)).toBe(hex);
  expect([contractFirst.secrets, contractFirst.body]).toEqual([secrets, body]);
});

/** It takes a timestamp for a number where it begins with one, and an empty key; it cannot read an empty body. */
const OTHERWISE = /no number of seconds|empty key|empty body/;

test('the library of Standard Webhooks agrees on every vector that it can read', () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  try {
    const vectors = STANDARD.filter(({ name }) => !OTHERWISE.test(name));
    const told = vectors.map(({ name, secrets, headers, body, now }) => {
      vi.setSystemTime(now * 1_000);
      return `${name}: ${secrets.some((secret) => isVerified(secret, body, headers))}`;
    });
    expect(told).toEqual(vectors.map(({ name, valid }) => `${name}: ${valid}`));
  } finally {
    vi.useRealTimers();
  }
});

function isVerified(secret: string, body: string, headers: Published['headers']): boolean {
  try {
    new Webhook(secret).verify(body, headers);
    return true;
  } catch {
    return false;
  }
}

test('the POST of the front page is the first vector of both', async () => {
  const page = await readFile(path.resolve(import.meta.dirname, '../../README.md'), 'utf8');
  const [, post = ''] = /```http\nPOST [^\n]+\n(.*?)```/s.exec(page) ?? [];
  const [head = '', body = ''] = post.split('\n\n');
  const headers = Object.fromEntries(head.split('\n').map((line) => line.split(': ') as [string, string]));
  expect(body.trim()).toBe(standardFirst.body);
  expect(headers).toMatchObject({ ...standardFirst.headers, ...contractFirst.headers });
  expect(page).toContain(`\`${standardFirst.secrets[0]}\``);
});
