/** `listen`: the real API on a socket, a real receiver, and the verifier that partners copy. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import path from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import type { FeedItem } from '../../src/contract/resources/delivery-resource.ts';
import { verify, verifyBody } from '../../src/http/receivers/carteiro.ts';
import { createFeedApi } from '../../src/listen/feed-api.ts';
import { createForwarder } from '../../src/listen/forward.ts';
import { type Ending, listen } from '../../src/listen/listen.ts';
import { openHeader } from '../../src/audit/checkpoint/checkpoint.ts';
import { readCheckpoint } from '../../src/audit/checkpoint/stored.ts';
import { sealAndSign, SIGNER } from '../support/checkpoint.ts';
import { callCommand, type RunningCommand, startCommand } from '../support/command.ts';
import { startDeliveryWorld, type Subscriber } from '../support/delivery-world.ts';
import { listening } from '../support/listening.ts';
import { makeTestFolder } from '../support/test-folder.ts';
import { type Receiver, startReceiver, status } from '../support/receiver.ts';
import { serve } from '../support/serve.ts';
import { run as runProgram } from '../support/snippets.ts';
import { untilSettled } from '../support/settled.ts';

const SECRET = 'whsec_b3V0cm8gc2VncmVkbyBxdWUgbmFvIMOpIGVzdGU=';
let partner: Subscriber;
let token: string;
let local: Receiver;

const world = await startDeliveryWorld();
const server = await serve(world.api.app.fetch);
beforeEach(async () => {
  partner = await world.subscriber();
  token = await world.api.token(partner.id, ['webhooks:read']);
  local = await startReceiver();
});

const hook = () => `${local.url}/hook`;
const eventIds = async () => {
  const { body } = await partner.send<{ itens: FeedItem[] }>('GET', '/v1/eventos');
  return body.itens.map(({ evento_id }) => evento_id);
};

/** The feed's end waits for other tests' transactions on the same server. */
async function emitted(count: number): Promise<string[]> {
  const before = (await eventIds()).length;
  for (let index = 0; index < count; index += 1) await partner.emit();
  for (;;) {
    const ids = await eventIds();
    if (ids.length >= before + count) return ids;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function start(args: readonly string[] = [], env: Readonly<Record<string, string>> = {}): RunningCommand {
  const options = ['--forward', hook(), '--api', server.url, ...args];
  return startCommand(['listen', ...options], { CARTEIRO_TOKEN: token, ...env });
}

const run = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  callCommand(['listen', '--forward', hook(), ...args], { CARTEIRO_TOKEN: token, CARTEIRO_API: server.url, ...env });

interface Heard {
  readonly lines: string[];
  readonly notes: string[];
  /** In the order in which they were asked for. */
  readonly pausesMs: number[];
  readonly stop: () => void;
  readonly ended: Promise<Ending>;
}

/** The same in this process, with pauses that are written down; each takes one turn of the loop unless `lasts` says so. */
interface Given {
  readonly url?: string;
  readonly api?: string;
  readonly since?: Date | null;
  /** The cursor after which the first page is read. */
  readonly first?: string;
  readonly lasts?: (ms: number) => boolean;
}

function listenHere(given: Given = {}): Heard {
  const { url = hook(), api = server.url, since = new Date(0), first = null, lasts = () => false } = given;
  const stop = new AbortController();
  const [lines, notes, pausesMs]: [string[], string[], number[]] = [[], [], []];
  const forwarder = createForwarder({ url, secret: SECRET, now: () => new Date() });
  const feed = createFeedApi(api, token);
  const listening = listen({
    api: { ...feed, readFeed: (query, signal) => feed.readFeed({ ...query, after: query.after ?? first }, signal) },
    attempt: forwarder.attempt,
    since,
    webhookId: null,
    print: (line) => lines.push(line),
    note: (line) => notes.push(line),
    pause: (ms, stopping) => {
      pausesMs.push(ms);
      return new Promise((resolve) => {
        if (stopping.aborted || !lasts(ms)) setImmediate(resolve);
        else stopping.addEventListener('abort', () => resolve());
      });
    },
    stopping: stop.signal,
  });
  const ended = listening.then(async (ending) => (await forwarder.close(), ending));
  return { lines, notes, pausesMs, stop: () => stop.abort(), ended };
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5));
}

describe('the command', () => {
  test('forwards what is new, as a real delivery, and the published verifier accepts it', async () => {
    const webhook = await partner.register();
    await emitted(1);
    const command = start();
    const [, secret = ''] = /^secret (whsec_\S+)$/m.exec(await command.output(/^secret whsec_/m)) ?? [];
    await command.log(/listening/);
    const [, newer = ''] = await emitted(1);
    await local.received(1);
    await world.deliver();
    const [post] = local.posts;
    if (post === undefined) throw new Error('nothing came');
    expect(post.headers['x-webhook-delivery']).toBe(newer);
    expect(verify(post.body, post.headers, [secret])).toBe(true);
    expect(verifyBody(post.body, post.headers, [secret])).toBe(true);
    expect(verify(post.body, post.headers, [webhook.secret])).toBe(false);

    const real = world.postsTo(webhook.path).find(({ body }) => body.equals(post.body));
    if (real === undefined) throw new Error('the real delivery has other bytes');
    expect(Object.keys(post.headers)).toEqual(Object.keys(real.headers));
    for (const name of ['content-type', 'user-agent', 'x-webhook-event', 'x-webhook-loan-version']) {
      expect([name, post.headers[name]]).toEqual([name, real.headers[name]]);
    }

    await command.output(new RegExp(`${newer}  200 in \\d+ ms`));
    expect((await command.end('SIGINT')).code).toBe(0);
  });

  test('--webhook takes its names alone, under the ids of its own deliveries', async () => {
    const webhook = await partner.register(['desembolso.falhou']);
    const other = await partner.register(['margem.falhou']);
    await emitted(1);
    const { body } = await partner.send<{ itens: { id: string }[] }>('GET', `/v1/webhooks/${webhook.id}/entregas`);
    const silent = start(['--webhook', other.id, '--since', '2000-01-01T00:00:00Z']);
    start(['--webhook', webhook.id, '--since', '2000-01-01T00:00:00Z']);
    await local.received(1);
    await silent.log(/listening/);
    expect(local.posts.map(({ headers }) => headers['x-webhook-delivery'])).toEqual(body.itens.map(({ id }) => id));
    expect((await silent.end('SIGTERM')).stdout).not.toContain('desembolso');
  });

  test('is one file that the service gives, and that runs with Node alone', async () => {
    await runProgram([process.execPath, 'src/main/make-listen.ts'], path.resolve(import.meta.dirname, '../..'));
    const folder = await makeTestFolder();
    const file = path.join(folder.path, 'listen.mjs');
    const answer = await fetch(`${server.url}/ferramentas/listen.mjs`);
    await writeFile(file, await answer.text());
    const again = await fetch(answer.url, { headers: { 'If-None-Match': answer.headers.get('etag') ?? '' } });
    expect([answer.status, answer.headers.get('content-type'), again.status]).toEqual([
      200,
      'text/javascript; charset=utf-8',
      304,
    ]);
    const env = { PATH: process.env['PATH'], CARTEIRO_TOKEN: token, CARTEIRO_SECRET: SECRET };
    const args = [file, '--forward', hook(), '--api', server.url, '--since', '1h'];
    await emitted(1);
    const alone = spawn(process.execPath, args, { cwd: folder.path, env, stdio: 'ignore' });
    await local.received(1);
    alone.kill('SIGINT');
    expect(await once(alone, 'exit')).toEqual([0, null]);
    expect(local.posts.every(({ body, headers }) => verify(body, headers, [SECRET]))).toBe(true);
    const wrong = spawn(process.execPath, [file], { cwd: folder.path, env, stdio: 'ignore' });
    expect(await once(wrong, 'exit')).toEqual([2, null]);
  });

  test('a secret that was given is not shown', async () => {
    const command = start([], { CARTEIRO_SECRET: SECRET });
    await command.log(/listening/);
    const { code, stdout, stderr } = await command.end('SIGINT');
    expect([code, `${stdout}${stderr}`.includes(SECRET)]).toEqual([0, false]);
  });
});

describe('what cannot be, in one sentence and with its exit code', () => {
  test('an expired token', async () => {
    const sign = world.api.deps.tokens.keys as unknown as { signToken: (asked: object) => Promise<string> };
    const expired = await sign.signToken({ partnerId: partner.id, scopes: ['webhooks:read'], ttlSeconds: -60 });
    const { code, stderr } = await run([], { CARTEIRO_TOKEN: expired });
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/^carteiro: the API refuses the token \(.*expirou.*\): set CARTEIRO_TOKEN to a new one\n$/),
    ]);
  });

  test('a token without the scope', async () => {
    const { code, stderr } = await run([], { CARTEIRO_TOKEN: await world.api.token(partner.id, ['margem:read']) });
    expect([code, stderr]).toEqual([1, expect.stringContaining('ask for one with the scope webhooks:read')]);
  });

  test('an API that is not there', async () => {
    const gone = await startReceiver();
    await gone.close();
    const { code, stderr } = await run(['--api', gone.url]);
    expect([code, stderr]).toEqual([
      3,
      expect.stringMatching(/127\.0\.0\.1:\d+ does not answer \(ECONNREFUSED\): is the API up/),
    ]);
  });

  test.each([
    ['another server', 404, {}, 'answers 404, which is not Carteiro'],
    ['another server that likes everything', 200, {}, 'answers 200, which is not Carteiro'],
    [
      'a redirect',
      301,
      { location: 'https://elsewhere.example' },
      'answers 301 and points to https://elsewhere.example',
    ],
  ])('%s', async (_, code, headers, sentence) => {
    const other = createServer((_request, response) => response.writeHead(code, headers).end('<h1>\u001B[31mhello'));
    const finished = await run(['--api', `http://127.0.0.1:${await listening(other)}/`]);
    expect([finished.code, finished.stderr]).toEqual([1, expect.stringContaining(sentence)]);
    expect(finished.stderr).toContain('set CARTEIRO_API to its address');
  });

  test("another partner's webhook", async () => {
    const { id } = await (await world.subscriber()).register();
    const { code, stderr } = await run(['--webhook', id]);
    expect([code, stderr]).toEqual([1, expect.stringContaining(`the token's partner has no webhook ${id}`)]);
  });

  test.each([
    ['no token', [], { CARTEIRO_TOKEN: '' }, 'set CARTEIRO_TOKEN'],
    ['a token with a blank', [], { CARTEIRO_TOKEN: 'Bearer kept-secret' }, 'without Bearer'],
    ['a secret of another form', [], { CARTEIRO_SECRET: 'kept-secret' }, 'must be whsec_'],
    ['an age without a unit', ['--since', '15'], {}, 'Give an age'],
    ['a URL with a user', ['--forward', 'http://a:kept@localhost/'], {}, 'without user'],
    ['an API in clear on another machine', ['--api', 'http://carteiro.example.com'], {}, 'give it as https://'],
    ['the same by the environment', [], { CARTEIRO_API: 'http://192.0.2.1:3000' }, 'carry the token in clear'],
    ['a name that only begins like this machine', ['--api', 'http://127.0.0.1.example.com'], {}, 'give it as https://'],
    ['every address of a machine', ['--api', 'http://0.0.0.0:3000'], {}, 'give it as https://'],
    ['an API with a query', ['--api', 'http://localhost/?a=b'], {}, 'without a query'],
  ])('%s', async (_, args, env, sentence) => {
    const { code, stderr } = await run(args, env);
    expect([code, stderr]).toEqual([2, expect.stringContaining(sentence)]);
    expect(stderr).not.toContain('kept-secret');
  });
});

/** Port 1 is refused at once: the address was accepted, and nobody answers. */
test.each(['http://localhost:1', 'http://127.9.8.7:1', 'http://127.1:1', 'http://[::1]:1', 'https://127.0.0.1:1'])(
  'an API on this machine, or one that is encrypted, is asked: %s',
  async (api) => {
    const { code, stderr } = await run(['--api', api]);
    expect([code, stderr]).toEqual([3, expect.stringContaining('does not answer')]);
  },
);

describe('attempts', () => {
  test('are six, at times that are told, with one id; then the delivery is given up', async () => {
    local.answerWith(status(500, 'sem\u001B[31m banco'));
    const [id = ''] = await emitted(1);
    const heard = listenHere();
    await until(() => heard.lines.length === 6);
    heard.stop();
    expect(await heard.ended).toMatchObject({ failed: null, unfinished: 0 });
    const said = heard.lines.map((line) => line.replace(/in \d+ ms/, 'in N ms'));
    expect(said).toEqual(
      ['again in 2 s', 'again in 5 s', 'again in 15 s', 'again in 30 s', 'again in 60 s', 'given up'].map(
        (next, index) =>
          `desembolso.falhou  ${id}  attempt ${index + 1} of 6 failed: 500 in N ms, "sem [31m banco"; ${next}`,
      ),
    );
    expect(heard.pausesMs.filter((ms) => ms !== 1_000)).toEqual([2_000, 5_000, 15_000, 30_000, 60_000]);
    expect(local.posts.map(({ headers }) => headers['x-webhook-delivery'])).toEqual(Array(6).fill(id));
  });

  test('at a receiver that is down or refuses the signature say what to look at', async () => {
    await emitted(1);
    const gone = await startReceiver();
    await gone.close();
    const down = listenHere({ url: gone.url, lasts: (ms) => ms > 1_000 });
    await until(() => down.lines.length === 1);
    down.stop();
    await down.ended;
    expect(down.lines[0]).toMatch(/failed: ECONNREFUSED.*: is the receiver up\?; again in 2 s/);
    local.answerWith(status(401));
    const refused = listenHere({ lasts: (ms) => ms > 1_000 });
    await until(() => refused.lines.length === 1);
    refused.stop();
    await refused.ended;
    expect(refused.lines[0]).toMatch(/failed: 401 in \d+ ms: does the receiver know the secret\?; again/);
  });

  test('that were cut short are counted at the end, and --since has them again', async () => {
    const ids = await emitted(3);
    local.answerWith((post, response) => {
      response.writeHead(post.headers['x-webhook-delivery'] === ids[1] ? 503 : 200).end();
    });
    const first = listenHere({ lasts: (ms) => ms > 1_000 });
    await until(() => first.lines.length === 3);
    first.stop();
    expect(await first.ended).toMatchObject({ failed: null, unfinished: 1 });
    local.answerWith(status(204));
    const again = listenHere();
    await until(() => again.lines.length === 3);
    again.stop();
    await again.ended;
    expect(again.lines.join(' ')).toContain(ids[1]);
  });

  test('wait where a receiver hangs, and Ctrl-C waits for those under way', async () => {
    await emitted(1);
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    local.answerWith((_post, response) => void released.then(() => response.writeHead(200).end()));
    const heard = listenHere();
    await local.received(1);
    heard.stop();
    release();
    expect(await heard.ended).toMatchObject({ failed: null, unfinished: 0 });
    expect(heard.lines).toEqual([expect.stringMatching(/200 in/)]);
  });
});

describe('the feed', () => {
  test('is read from now on, or from an instant: what lies before does not come', async () => {
    await emitted(3);
    const late = listenHere({ since: new Date(Date.now() + 3_600_000) });
    const now = listenHere({ since: null });
    await until(() => late.notes.length + now.notes.length === 2);
    const ids = await emitted(1);
    await until(() => late.lines.length > 0 && now.lines.length > 0);
    for (const heard of [late, now]) heard.stop();
    await Promise.all([late.ended, now.ended]);
    for (const { lines } of [late, now]) expect(lines).toEqual([expect.stringContaining(ids.at(-1) ?? '')]);
  });

  test('of a database that went back in time goes on where the API says', async () => {
    const [id = ''] = await emitted(1);
    const ahead = await world.api.deps.cursors.write(`eventos ${partner.id}`, ['1', '99999999999', '99999999999']);
    const heard = listenHere({ first: ahead });
    await until(() => heard.notes.length === 2);
    const [, next = ''] = await emitted(1);
    await until(() => heard.lines.length > 0);
    heard.stop();
    await heard.ended;
    expect(heard.notes.join(' ')).toContain('went back to an earlier moment');
    expect(heard.lines).toEqual([expect.stringContaining(next)]);
    expect(id).not.toBe(next);
  });

  test('is asked again while the API is away, and says so once', async () => {
    const own = await serve(world.api.app.fetch);
    const heard = listenHere({ api: own.url, since: null });
    await until(() => heard.notes.length === 1);
    await own.close(0);
    await until(() => heard.pausesMs.filter((ms) => ms === 5_000).length > 3);
    await serve(world.api.app.fetch, { port: Number(new URL(own.url).port) });
    await until(() => heard.notes.length === 3);
    await emitted(1);
    await until(() => heard.lines.length === 1);
    heard.stop();
    await heard.ended;
    expect(heard.notes[1]).toMatch(/does not answer .* It is asked again until it answers\.$/);
    expect(heard.notes[2]).toBe('the API answers again');
  });

  test('of a partner that was deactivated meanwhile ends it', async () => {
    const heard = listenHere({ since: null });
    await until(() => heard.notes.length === 1);
    await world.api.database.sql`update partners set active = false where id = ${partner.id}`;
    expect(await heard.ended).toMatchObject({
      failed: { kind: 'refused', sentence: expect.stringContaining('inativo') },
    });
  });
});

test('each POST carries the API’s newest checkpoint, and the command tells it', async () => {
  const { sql, pool } = world.api.database;
  await emitted(1);
  await untilSettled(sql);
  await sealAndSign(pool);
  // Rows of transactions that other files had open are sealed in turns of their own, so the log's size is asked for.
  const { size } = (await pool.transaction((tx) => readCheckpoint(tx))) ?? { size: 0 };
  const command = start(['--since', '2000-01-01T00:00:00Z']);
  await command.log(new RegExp(`checkpoint: carteiro\\.test/log at ${size}\\b`));
  // It may have left before the checkpoint was read.
  await local.received(1);
  await emitted(1);
  await local.received(2);
  expect(openHeader(String(local.posts.at(-1)?.headers['x-carteiro-checkpoint']), [SIGNER])).toMatchObject({ size });
});
