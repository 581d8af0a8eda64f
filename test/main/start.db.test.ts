import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { VERSION } from '../../src/version.ts';
import { callCommand, runCommand, startCommand, startProgram } from '../support/command.ts';
import { fetchDescribed } from '../support/described-answers.ts';
import { run } from '../support/snippets.ts';
import { makeTestFolder } from '../support/test-folder.ts';

const URL_SHOWN = /listens on (http:\/\/127\.0\.0\.1:\d+)/;

test('a newcomer starts it, pastes the commands, stops it, and finds everything again', async () => {
  const folder = await makeTestFolder();
  const env = { DATA_DIR: join(folder.path, 'data'), PORT: '0', LOG_LEVEL: 'warn' };

  const first = startCommand(['start'], env);
  const shown = await first.output(/desembolso/);
  expect(shown.trimEnd().split('\n').length).toBeLessThanOrEqual(20);
  const [, url] = URL_SHOWN.exec(shown) ?? [];
  const [, partnerId = '', scope = ''] = /token --partner (\S+) --scope "([^"]+)"/.exec(shown) ?? [];
  const token = await runCommand(['token', '--partner', partnerId, '--scope', scope], env);
  expect(token.stdout).toMatch(/^eyJ\S+\n$/);
  const headers = { authorization: `Bearer ${token.stdout.trim()}`, 'content-type': 'application/json' };
  const [, body = ''] = /v1\/webhooks .* -d '([^']+)'/.exec(shown) ?? [];
  const created = await fetchDescribed(`${url}/v1/webhooks`, { method: 'POST', headers, body });
  expect(created.status).toBe(201);
  const { id } = (await created.json()) as { id: string };

  // A second process on the same folder finds the server, and leaves it running.
  const ofCore = '0198c0de-0000-7000-8000-00000000c04e';
  const create = ['partner', 'create', '--name', 'Outro', '--issuance', 'assincrona', '--id', ofCore];
  const created2 = await callCommand(create, env);
  const outro = { id: ofCore, name: 'Outro', signing: 'internal', issuance: 'assincrona' };
  expect(JSON.parse(created2.stdout)).toMatchObject(outro);
  expect(await callCommand(create, env)).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringContaining('--id: there is a partner of this id already') as string,
  });
  expect((await fetchDescribed(`${url}/readyz`)).status).toBe(200);
  const stopped = await first.end('SIGINT');
  // On a machine that is busy a connection or an answer may take longer than its deadline, which is told and tried again.
  const isBusy = (line: string) => line.includes('CONNECT_TIMEOUT') || line.includes('"code":"DatabaseUnavailable"');
  const complaints = stopped.stderr.split('\n').filter((line) => line !== '' && !isBusy(line));
  expect([stopped.code, complaints]).toEqual([0, []]);

  const second = startCommand(['start'], env);
  const [, urlAgain] = URL_SHOWN.exec(await second.output(/desembolso/)) ?? [];
  const listed = (await (await fetchDescribed(`${urlAgain}/v1/webhooks`, { headers })).json()) as { id: string }[];
  expect(listed.map((webhook) => webhook.id)).toEqual([id]);
  await second.end('SIGKILL');

  const third = startCommand(['start'], env);
  const [, urlRecovered] = URL_SHOWN.exec(await third.output(/desembolso/)) ?? [];
  expect((await fetchDescribed(`${urlRecovered}/v1/webhooks`, { headers })).status).toBe(200);
  expect((await third.end('SIGTERM')).code).toBe(0);
  expect(existsSync(join(env.DATA_DIR, 'postgres', 'data', 'postmaster.pid'))).toBe(false);
});

test('whose output nobody reads any more drains, and leaves no server behind', async () => {
  const folder = await makeTestFolder();
  const env = { DATA_DIR: join(folder.path, 'data'), PORT: '0' };
  const main = resolve(import.meta.dirname, '../../src/main.ts');
  const piped = startProgram(['sh', '-c', '"$0" "$1" start | true', process.execPath, main], env);
  expect((await piped.end()).stderr).toMatch(/"signal":"SIGHUP"[^]*"msg":"stopped"/);
  expect(existsSync(join(env.DATA_DIR, 'postgres', 'data', 'postmaster.pid'))).toBe(false);
});

test('where the core is the lender’s own, what is shown leads the core’s loan to its transfer', async () => {
  const folder = await makeTestFolder();
  const env = { DATA_DIR: join(folder.path, 'data'), PORT: '0', LOG_LEVEL: 'warn', LOAN_CORE: 'outside' };
  const running = startCommand(['start'], env);
  const shown = await running.output(/desembolso/);
  expect(shown.trimEnd().split('\n').length).toBeLessThanOrEqual(20);
  const [, url = '', pasted = ''] = /listens on (\S+),[^]*(# 4\.[^]*)/.exec(shown) ?? [];
  const said = await run(['sh', '-c', pasted], resolve(import.meta.dirname, '../..'));
  expect(said).toContain('"status":"desembolsada"');
  expect((await fetchDescribed(`${url}/v1/emprestimos`, { method: 'POST' })).status).toBe(404);
  expect((await running.end('SIGTERM')).code).toBe(0);
});

test('outside the sandbox the start is refused without keys, naming each variable and no value', async () => {
  const { code, stderr } = await runCommand(['api'], {
    DATABASE_URL: 'postgres://carteiro:segredo@127.0.0.1:1/x',
    PORT: 'abc',
  });
  expect(code).toBe(2);
  for (const name of ['PORT', 'SECRETS_KEY', 'JWT_ISSUER', 'JWT_AUDIENCE', 'JWT_JWKS_URL'])
    expect(stderr).toContain(name);
  expect(stderr).not.toMatch(/segredo|abc/);
});

test.each(['start', 'api', 'poll', 'migrate'])(
  '%s starts no embedded sandbox where DATABASE_URL is misspelled or a variable of production stands alone',
  async (command) => {
    const folder = await makeTestFolder();
    const DATA_DIR = join(folder.path, 'data');
    const misspelled = await callCommand([command], { DATA_DIR, DATABSE_URL: 'postgres://carteiro:segredo@db/x' });
    const alone = await callCommand([command], { DATA_DIR, JWT_ISSUER: 'https://login.example' });
    expect([misspelled.code, alone.code, existsSync(DATA_DIR)]).toEqual([2, 2, false]);
    expect(misspelled.stderr).toBe('invalid environment:\n  DATABSE_URL: is not known here; is DATABASE_URL meant?\n');
    expect(alone.stderr).toContain('DATABASE_URL: is required beside JWT_ISSUER');
  },
);

test('every command explains itself', async () => {
  const { stdout } = await callCommand(['--help']);
  const commands = [...stdout.matchAll(/^ {2}([a-z-]+)(?: \[options\])?/gm)].map((match) => match[1] ?? '');
  expect(commands).toEqual(expect.arrayContaining(['start', 'api', 'poll', 'migrate', 'partner', 'token']));
  expect(await callCommand(['--version'])).toMatchObject({ code: 0, stdout: `${VERSION}\n` });
  expect((await callCommand(['token', '--help'])).stdout).toMatch(/--ttl <time>/);
  const refused = await callCommand(['token', '--scope', 'tudo']);
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain('webhooks:read');
});
