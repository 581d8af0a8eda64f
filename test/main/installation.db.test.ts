/** The whole service in a core's database, through the command line: its schema, its roles, whatever the search path. */
import { describe, expect, test } from 'vitest';
import { callCommand, runCommand, startServing } from '../support/command.ts';
import {
  createCoreDatabase,
  environmentOf,
  fingerprintOf,
  installationOfItsOwn,
  PASSWORD,
} from '../support/core-database.ts';
import { fetchDescribed } from '../support/described-answers.ts';
import { startReceiver } from '../support/receiver.ts';
import { makeTestFolder } from '../support/test-folder.ts';

const core = await createCoreDatabase();
const folder = await makeTestFolder();
const installation = installationOfItsOwn();
const { rolePrefix } = installation;
const environment: Record<string, string> = { ...environmentOf(installation, folder.path), DATABASE_URL: core.url };
const migrated = await callCommand(['migrate'], environment);
if (migrated.stdout !== 'migrated\n') throw new Error(migrated.stderr);
for (const role of ['app', 'poller', 'owner']) {
  const login = `${rolePrefix}_${role}_login`;
  await core.sql.unsafe(`create role ${login} login password '${PASSWORD}' in role ${rolePrefix}_${role}`);
  await core.sql.unsafe(`alter role ${login} set search_path = core_own, public`);
}

/** As a login of this role; `parameters` are put on the URL. */
function as(role: string, parameters: string): Record<string, string> {
  return { ...environment, DATABASE_URL: `${core.urlOf(`${installation.rolePrefix}_${role}_login`)}${parameters}` };
}

describe.each([
  ['a plain URL', '', {}],
  ['a URL with a search path of the core’s', '?options=-csearch_path%3Dcore_own,public', {}],
  [
    'a URL with options and no prepared statements',
    '?options=-c%20search_path%3Dcore_own',
    { DATABASE_PREPARE: 'false' },
  ],
])('with %s', (_, parameters, more) => {
  test('partner create, api and poll work: a test delivery arrives, and the core’s tables stay as they are', async () => {
    const before = await fingerprintOf(core.sql, installation);
    const created = await callCommand(['partner', 'create', '--name', 'Um'], { ...as('owner', parameters), ...more });
    expect(created).toMatchObject({ code: 0 });
    const { id } = JSON.parse(created.stdout) as { id: string };
    const scope = 'webhooks:read webhooks:write';
    const token = await callCommand(['token', '--partner', id, '--scope', scope], environment);
    const headers = { authorization: `Bearer ${token.stdout.trim()}`, 'content-type': 'application/json' };

    const receiver = await startReceiver();
    const serve = (role: 'api' | 'poll', login: string) => startServing(role, { ...as(login, parameters), ...more });
    const [api, poll] = await Promise.all([serve('api', 'app'), serve('poll', 'poller')]);
    const { url } = api;

    const body = JSON.stringify({ url: receiver.url, eventos: ['desembolso.liquidado'] });
    const registered = await fetchDescribed(`${url}/v1/webhooks`, { method: 'POST', headers, body });
    expect(registered.status).toBe(201);
    const webhook = (await registered.json()) as { id: string };
    const listed = await fetchDescribed(`${url}/v1/webhooks`, { headers });
    expect(await listed.json()).toMatchObject([{ id: webhook.id }]);
    const tried = await fetchDescribed(`${url}/v1/webhooks/${webhook.id}/teste`, { method: 'POST', headers });
    expect(tried.status).toBe(200);
    await receiver.received(1);

    expect((await poll.end('SIGTERM')).code).toBe(0);
    expect((await api.end('SIGTERM')).code).toBe(0);
    await receiver.close();
    expect(await fingerprintOf(core.sql, installation)).toEqual(before);
  });
});

test('without the schema’s name the commands find nothing, and say what to run', async () => {
  const { DATABASE_SCHEMA: _, ...without } = environment;
  const { code, stderr } = await runCommand(['poll'], without);
  expect(code).toBe(1);
  expect(stderr).toMatch(/carteiro: \d+ migrations are pending: run the command 'migrate' first/);
});
