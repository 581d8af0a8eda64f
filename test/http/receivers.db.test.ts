/**
 * What partners copy from src/http/receivers, held against deliveries as they left (genuine, tampered, in a rotation), against the
 * published vectors of signatures, our signer and independent libraries, and against the published vectors of checkpoints.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { stripTypeScriptTypes } from 'node:module';
import { connect } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { sign as signContract } from '@octokit/webhooks-methods';
import { Webhook } from 'standardwebhooks';
import { expect, onTestFinished, test, type TestContext, vi } from 'vitest';
import checkpoints from '../../src/audit/verifiers/vectors.json' with { type: 'json' };
import { sign, signingKey, signStandard } from '../../src/delivery/sending/signature.ts';
import contract from '../../src/http/receivers/contract-vectors.json' with { type: 'json' };
import standard from '../../src/http/receivers/standard-vectors.json' with { type: 'json' };
import { startDeliveryWorld } from '../support/delivery-world.ts';
import { listening } from '../support/listening.ts';
import { type Post, startReceiver } from '../support/receiver.ts';
import { folderWith } from '../support/snippets.ts';
import { type CheckpointCase, prepareVerifiers, type VerifierCase } from '../support/verifiers.ts';

const FILES = path.resolve(import.meta.dirname, '../../src/http/receivers');
const OTHER = 'whsec_b3V0cm8gc2VncmVkbyBxdWUgbmFvIMOpIGVzdGU=';

const verifiers = await prepareVerifiers();
const world = await startDeliveryWorld();
const partner = await world.subscriber();
const webhook = await partner.register();
const next = async (): Promise<Post> => {
  await partner.emit();
  await world.deliver();
  return world.postsTo(webhook.path).at(-1) as Post;
};
const secret = webhook.secret;
/** Before and during a rotation. */
const post = await next();
const newSecret = (await partner.send<{ secret: string }>('POST', `/v1/webhooks/${webhook.id}/segredo`)).body.secret;
const rotating = await next();

function tampered(sent: Post): Post {
  return { ...sent, body: Buffer.from(sent.body.toString().replace('desembolso', 'desembolsO')) };
}

const headersOf = ({ headers }: Post): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).filter((header): header is [string, string] => /webhook|content-type/.test(header[0])),
  );

test.for(verifiers)('the verifier in $name', async ({ missing, answer }, context) => {
  skipWithout(missing, context);
  const expected: readonly [Post, readonly string[], boolean][] = [
    [post, [secret], true],
    [tampered(post), [secret], false],
    [post, [OTHER], false],
    [post, [OTHER, secret], true],
    [rotating, [secret], true],
    [rotating, [newSecret], true],
    [rotating, [OTHER], false],
  ];
  const cases = (['verify', 'verifyBody'] as const).flatMap((which) =>
    expected.map(([sent, secrets]): VerifierCase => {
      const now = Number(sent.headers['webhook-timestamp']);
      return { function: which, secrets, headers: headersOf(sent), body: sent.body, now };
    }),
  );
  const answers = expected.map(([, , isValid]) => isValid);
  expect(await answer(cases)).toEqual([...answers, ...answers]);
});

test('carteiro.mjs is carteiro.ts without its types', async () => {
  const [typed, bare] = await Promise.all(
    ['carteiro.ts', 'carteiro.mjs'].map((name) => readFile(path.join(FILES, name), 'utf8')),
  );
  const codeOf = (text = '') => text.replaceAll(/\/\*\*.*?\*\/|[\s();]+|,(?=\s*[)\]}])/gs, '');
  expect(codeOf(bare)).toBe(codeOf(stripTypeScriptTypes(String(typed))));
});

test('the receiver in Node', async () => {
  const names = ['carteiro.mjs', 'receiver.mjs'];
  const texts = names.map(async (name) => [name, await readFile(path.join(FILES, name), 'utf8')] as const);
  const folder = await folderWith(Object.fromEntries(await Promise.all(texts)));
  const { port, close } = await startReceiver();
  await close();
  const env = { PATH: process.env['PATH'], PORT: String(port), CARTEIRO_SECRETS: `${OTHER},${secret}` };
  const child = spawn(process.execPath, ['receiver.mjs'], { cwd: folder.path, env, stdio: 'ignore' });
  onTestFinished(() => void child.kill());
  expect(await postTo(port, post)).toBe(204);
  // Somebody hangs up in the middle of a body.
  const socket = connect(port, '127.0.0.1');
  socket.write('POST /carteiro HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nab', () => socket.destroy());
  await once(socket, 'close');
  expect(await postTo(port, tampered(post))).toBe(401);
  expect(child.exitCode).toBeNull();
});

/** Sends again what was received, once the receiver listens. */
async function postTo(port: number, sent: Post): Promise<number> {
  const request = { method: 'POST', headers: headersOf(sent), body: new Uint8Array(sent.body) };
  for (;;) {
    try {
      return (await fetch(`http://127.0.0.1:${port}/carteiro`, request)).status;
    } catch {
      await sleep(50);
    }
  }
}

function skipWithout(missing: string | null, context: TestContext): void {
  if (missing !== null) context.skip(`there is no ${missing} on this machine`);
}

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

test.for(verifiers)('the verifier in $name answers every vector as published', async ({ missing, answer }, context) => {
  skipWithout(missing, context);
  const names = [...STANDARD, ...CONTRACT];
  expect((await answer(CASES)).map((valid, index) => `${names[index]?.name}: ${String(valid)}`)).toEqual(PUBLISHED);
});

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
  onTestFinished(() => void vi.useRealTimers());
  const vectors = STANDARD.filter(({ name }) => !OTHERWISE.test(name));
  const reported = vectors.map(({ name, secrets, headers, body, now }) => {
    vi.setSystemTime(now * 1_000);
    return `${name}: ${secrets.some((secret) => isVerified(secret, body, headers))}`;
  });
  expect(reported).toEqual(vectors.map(({ name, valid }) => `${name}: ${valid}`));
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

/** `verifyCheckpoint`, on the published vectors, with an API on a real socket. */
const { headers, keys } = checkpoints;
interface Vector {
  readonly answers: readonly { readonly de: number; readonly ate: number; readonly text: string | null }[];
}

/** What was asked, of each case. */
let asked: string[];

const api = createServer((request, response) => {
  const [, index = '', question = ''] = /^\/(\d+)(\/.*)$/.exec(request.url ?? '') ?? [];
  asked.push(`${index} ${question}`);
  const [, de, ate] = /de=(\d+)&ate=(\d+)$/.exec(question) ?? [];
  const vector: Vector | undefined = headers[Number(index)];
  const answer = vector?.answers.find((one) => `${one.de} ${one.ate}` === `${de} ${ate}`)?.text ?? null;
  response.writeHead(answer === null ? 503 : answer.includes('NAO_ENCONTRADO') ? 404 : 200).end(answer ?? 'away');
});
const port = await listening(api);

test.for(verifiers.filter((one) => one.readsCheckpoints))('in $name', async ({ missing, answer }, context) => {
  skipWithout(missing, context);
  asked = [];
  const cases = headers.map(({ header, kept, now }, index): CheckpointCase => {
    return { function: 'verifyCheckpoint', keys, header, kept, now, api: `http://127.0.0.1:${port}/${index}` };
  });
  const reported = await answer(cases);
  expect(reported.map((found, index) => [headers[index]?.name, found])).toEqual(
    headers.map((vector) => [vector.name, [vector.verdict, vector.keep]]),
  );
  // Nothing is asked where nothing can be learnt.
  const questions = (headers as readonly Vector[]).flatMap(({ answers }, index) =>
    answers.map(({ de, ate }) => `${index} /v1/evidencia/consistencia?de=${de}&ate=${ate}`),
  );
  expect(asked.toSorted()).toEqual(questions.toSorted());
});
