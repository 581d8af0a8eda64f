/** What partners copy from src/http/receivers, held against deliveries as they left: genuine, tampered, in a rotation. */
import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { startDeliveryWorld } from '../support/delivery-world.ts';
import { type Post, startReceiver } from '../support/receiver.ts';
import { folderWith } from '../support/snippets.ts';
import { type VerifierCase, VERIFIERS } from '../support/verifiers.ts';

const FILES = path.resolve(import.meta.dirname, '../../src/http/receivers');
const OTHER = 'whsec_b3V0cm8gc2VncmVkbyBxdWUgbmFvIMOpIGVzdGU=';

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
afterAll(() => world.close());

function tampered(sent: Post): Post {
  return { ...sent, body: Buffer.from(sent.body.toString().replace('desembolso', 'desembolsO')) };
}

const headersOf = ({ headers }: Post): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).filter((header): header is [string, string] => /webhook|content-type/.test(header[0])),
  );

test.for(VERIFIERS)('the verifier in $name', async ({ name, needs, isHere, answer }, context) => {
  if (!(await isHere())) context.skip(`the verifier in ${name} was not run: there is no ${needs} on this machine`);
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

test('the receiver in Node', async () => {
  const names = ['carteiro.ts', 'receiver.ts'];
  const texts = names.map(async (name) => [name, await readFile(path.join(FILES, name), 'utf8')] as const);
  const folder = await folderWith(Object.fromEntries(await Promise.all(texts)));
  const { port, close } = await startReceiver();
  await close();
  const env = { PATH: process.env['PATH'], PORT: String(port), CARTEIRO_SECRETS: `${OTHER},${secret}` };
  const child = spawn(process.execPath, ['receiver.ts'], { cwd: folder.path, env, stdio: 'ignore' });
  try {
    expect(await postTo(port, post)).toBe(204);
    expect(await postTo(port, tampered(post))).toBe(401);
  } finally {
    child.kill();
    await folder.remove();
  }
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
