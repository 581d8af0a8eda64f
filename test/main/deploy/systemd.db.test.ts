/** The units as an operator starts them: by the page's own commands, under a systemd that is process 1. */
import { chownSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeKey } from '../../../src/audit/checkpoint/note.ts';
import { Balancer } from '../../support/balancer.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { AUDIENCE, createSigningKey, goodClaims, ISSUER, sign, startKeySet } from '../../support/issuer.ts';
import type { KeySetServer, SigningKey } from '../../support/issuer.ts';
import { createLogin, type Login } from '../../support/logins.ts';
import { insertPartner } from '../../support/outbox.ts';
import { type OwnSystemd, startOwnSystemd } from '../../support/own-systemd.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { snippet } from '../../support/snippets.ts';
import { freePorts } from '../../support/free-ports.ts';
import { makeTestFolder } from '../../support/test-folder.ts';

const ROOT = path.resolve(import.meta.dirname, '../../..');
const PAGE = 'src/main/deploy/README.md';
/** A clone in a folder that other users cannot enter, as `mktemp -d` makes it. */
const closed = await makeTestFolder();
for (const entry of readdirSync(ROOT)) symlinkSync(path.join(ROOT, entry), path.join(closed.path, entry));
const systemd = await startOwnSystemd(closed.path);
if (systemd === null) await closed.remove();

const hookFor = ({ url }: Receiver) => ({ url, eventos: ['autorizacao.confirmada'] });
const authorization = (partnerId: string) => ({
  parceiro_id: partnerId,
  cpf_trabalhador: '52998224725',
  origem: 'mensageria',
});

async function isReady(api: string): Promise<boolean> {
  return fetch(`${api}/readyz`).then(
    ({ status }) => status === 200,
    () => false,
  );
}

describe.skipIf(systemd === null)('the units', () => {
  const { root, sh, show, stop } = systemd ?? ({} as OwnSystemd);
  let database: TestDatabase;
  let logins: Login[];
  let keySet: KeySetServer;
  let key: SigningKey;
  let receiver: Receiver;
  /** In place of the page's. */
  let ports: ReadonlyMap<string, number>;
  const at = (port: string) => ports.get(port) ?? Number.NaN;
  const url = (port: string) => `http://127.0.0.1:${at(port)}`;
  const page = async (name: string) =>
    (await snippet(name, PAGE)).replaceAll(/\b(3000|3001|9464|9465|9466)\b/g, (port) => String(at(port)));
  const apis = () => ['3000', '3001'].map((port) => `carteiro-api@${at(port)}`);
  const pollers = () => ['9464', '9465', '9466'].map((port) => `carteiro-poll@${at(port)}`);
  const environment = (command: string, values: Readonly<Record<string, string>>) =>
    writeFileSync(
      path.join(root, `etc/carteiro/${command}.env`),
      Object.entries(values)
        .map(([name, value]) => `${name}='${value}'\n`)
        .join(''),
      { mode: 0o600 },
    );
  const own = { SECRETS_KEY: Buffer.alloc(32, 7).toString('base64'), ALLOW_INSECURE_TARGETS: 'true' };
  const send = async (to: string, claims: object, body: object) => {
    const token = await sign(key, goodClaims({ ...claims }));
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    return { method: 'POST', headers, body: JSON.stringify(body), to };
  };

  beforeAll(async () => {
    database = await createTestDatabase();
    key = await createSigningKey('ES256');
    keySet = await startKeySet([key.publicJwk]);
    receiver = await startReceiver();
    const names = ['3000', '3001', '9464', '9465', '9466'];
    const free = await freePorts(names.length);
    ports = new Map(names.map((name, index) => [name, free[index] ?? 0]));
    logins = await Promise.all(
      ['carteiro_owner', 'carteiro_app', 'carteiro_poller'].map((role) => createLogin(database, role)),
    );
    const [owner, app, poller] = logins.map(({ url: DATABASE_URL }) => ({ DATABASE_URL }));
    const tokens = { JWT_ISSUER: ISSUER, JWT_AUDIENCE: AUDIENCE, JWT_JWKS_URL: keySet.url };
    environment('migrate', { ...owner });
    for (const [name, text] of [
      ['checkpoint.key', makeKey('carteiro.example.com/log')],
      ['worker.key', Buffer.alloc(32, 9).toString('base64')],
    ] as const) {
      const file = path.join(root, 'etc/carteiro', name);
      writeFileSync(file, `${text}\n`, { mode: 0o640 });
      chownSync(file, 0, 990);
    }
    // Longer than the balancer trusts an answer of /readyz; the unit's own delay would only make this slower.
    environment('api', { ...app, ...own, ...tokens, DRAIN_DELAY_SECONDS: '2' });
    environment('poll', { ...poller, ...own });
    await sh(await page('start-units.sh'));
  });
  afterAll(async () => {
    await stop();
    for (const login of logins) await login.remove();
  });

  test('start by the page’s commands, without a right, and a webhook gets its POST', async () => {
    expect((await sh('journalctl --no-pager --output cat --unit carteiro-migrate')).trim()).toMatch(/migrated$/);
    for (const port of ['3000', '3001']) while (!(await isReady(url(port)))) await sleep(50);
    for (const unit of [...apis(), ...pollers()]) {
      const pid = await show(unit, 'MainPID');
      const status = await sh(`cat /proc/${pid}/status`);
      expect(status).toMatch(/^Uid:\t990\t990\t990\t990$/m);
      for (const line of [/^CapBnd:\t0+$/m, /^CapEff:\t0+$/m, /^NoNewPrivs:\t1$/m, /^Seccomp:\t2$/m])
        expect(status).toMatch(line);
    }
    const partnerId = await insertPartner(database.sql);
    const asked = [
      await send('/v1/webhooks', { parceiro_id: partnerId, scope: 'webhooks:write' }, hookFor(receiver)),
      await send('/v1/nucleo/autorizacoes', { scope: 'nucleo' }, authorization(partnerId)),
    ];
    const answers: number[] = [];
    for (const { to, ...request } of asked) answers.push((await fetch(`${url('3000')}${to}`, request)).status);
    expect(answers).toEqual([201, 201]);
    await expect.poll(() => receiver.posts.length).toBe(1);
  });

  test('can write nothing, and cannot read what systemd read for them', async () => {
    const pid = await show(pollers()[0] ?? '', 'MainPID');
    const as = `nsenter --target ${pid} --mount --root --wd=/ -- setpriv --reuid 0 --bounding-set=-all --no-new-privs`;
    for (const file of ['/opt/carteiro/x', '/var/x', '/etc/carteiro/x'])
      await expect(sh(`${as} touch ${file}`)).rejects.toThrow('Read-only file system');
    await expect(sh('setpriv --reuid 990 --clear-groups cat /etc/carteiro/poll.env')).rejects.toThrow('denied');
  });

  test('are replaced one by one by the page’s commands: no request is refused, and every event is delivered', async () => {
    const before = await Promise.all([...apis(), ...pollers()].map((unit) => show(unit, 'MainPID')));
    const balancer = new Balancer();
    for (const port of ['3000', '3001']) await balancer.add(url(port));
    const partnerId = await insertPartner(database.sql);
    const { to: hooks, ...hook } = await send(
      '/v1/webhooks',
      { parceiro_id: partnerId, scope: 'webhooks:write' },
      hookFor(receiver),
    );
    expect((await balancer.send(hooks, hook))?.status).toBe(201);
    const { to, ...event } = await send('/v1/nucleo/autorizacoes', { scope: 'nucleo' }, authorization(partnerId));
    const over = new AbortController();
    const loading = (async () => {
      while (!over.signal.aborted) await Promise.all([balancer.send(to, event), sleep(20)]);
    })();
    const known = receiver.posts.length;
    await sh(await page('release-units.sh'));
    over.abort();
    await loading;
    await balancer.close();
    expect(balancer.refused).toEqual([]);
    expect(balancer.answered).toBeGreaterThan(1);
    await expect.poll(() => receiver.posts.length - known).toBe(balancer.answered - 1);
    const after = await Promise.all([...apis(), ...pollers()].map((unit) => show(unit, 'MainPID')));
    expect(after.filter((pid) => pid === '0' || before.includes(pid))).toEqual([]);
    // The first is ready again before the second is told to stop.
    const [one = '', other = ''] = apis();
    const listens = await momentsOf(one, 'the API listens');
    const drains = await momentsOf(other, 'draining');
    expect(listens.at(-1)).toBeLessThan(drains.at(-1) ?? 0);
  });

  async function momentsOf(unit: string, words: string): Promise<number[]> {
    const lines = await sh(`journalctl --no-pager --output cat --unit ${unit}`);
    const reported = lines.split('\n').filter((line) => line.includes(`"msg":"${words}`));
    return reported.map((line) => Date.parse((JSON.parse(line) as { time: string }).time));
  }

  test('that are killed are started again; with an environment that cannot be used they are not', async () => {
    const [killed = '', broken = ''] = pollers();
    await sh(`kill -9 ${await show(killed, 'MainPID')}`);
    await expect.poll(() => show(killed, 'NRestarts')).toBe('1');
    environment('poll', { ...own, DATABASE_URL: 'no-url' });
    // It fails itself: a unit that notifies has started only when it says so.
    await sh(`systemctl restart ${broken} || true`);
    const state = async () => `${await show(broken, 'ActiveState')}, restarted ${await show(broken, 'NRestarts')}`;
    await expect.poll(state).toMatch(/^failed|[1-9]$/);
    expect([await state(), await show(broken, 'ExecMainStatus')]).toEqual(['failed, restarted 0', '2']);
  });

  test('drain on stop, and end well', async () => {
    const all = [...apis(), pollers()[2] ?? ''];
    await sh(`systemctl stop ${all.join(' ')}`);
    for (const unit of all) {
      expect([await show(unit, 'Result'), await show(unit, 'ExecMainStatus')]).toEqual(['success', '0']);
      expect(await momentsOf(unit, 'stopped')).not.toEqual([]);
    }
  });
});
