/** The doctor as a real process: a healthy installation, and each fault put into one. */
import { expect, test } from 'vitest';
import { callCommand, startServing } from '../support/command.ts';
import { createEmptyDatabase, createTestDatabase } from '../support/database.ts';
import { createLogin } from '../support/logins.ts';
import { commitEvents, insertPartner, readDeliveries } from '../support/outbox.ts';
import { insertEncryptedWebhook } from '../support/poller-process.ts';

const KEY = Buffer.alloc(32, 7).toString('base64');
const OTHER = Buffer.alloc(32, 8).toString('base64');
const database = await createTestDatabase();
const { sql } = database;

interface Answer {
  readonly code: number | null;
  readonly faults: number;
  readonly findings: readonly {
    readonly about: string;
    readonly verdict: string;
    readonly found: string;
    readonly advice: string | null;
  }[];
}

async function examine(more: Record<string, string> = {}): Promise<Answer> {
  const env = { DATABASE_URL: database.url, SANDBOX: 'true', SECRETS_KEY: KEY, LOG_LEVEL: 'warn', ...more };
  const { code, stdout, stderr } = await callCommand(['doctor', '--json'], env);
  expect(stderr).toBe('');
  return { code, ...(JSON.parse(stdout) as Omit<Answer, 'code'>) };
}

const faultsOf = ({ findings }: Answer) =>
  findings.filter(({ verdict }) => verdict === 'fault').map(({ about }) => about);

test('a healthy installation has no fault, and each look tells what it found', async () => {
  const answer = await examine();
  expect([answer.code, faultsOf(answer)]).toEqual([0, []]);
  const about = new Set(answer.findings.map((finding) => finding.about));
  for (const name of [
    'version',
    'schema',
    'lease',
    'synchronous_commit',
    'fsync',
    'clock',
    'transactions',
    'tokens',
    'migrations',
    'epoch',
    'roles',
    'grants',
    'definitions',
    'login',
    'secrets',
    'sealer',
    'projector',
    'deliveries',
    'disk',
    'dns',
  ])
    expect(about).toContain(name);
  const text = await callCommand(['doctor'], { DATABASE_URL: database.url, SANDBOX: 'true', SECRETS_KEY: KEY });
  expect(text.stdout).toMatch(/ok +version +PostgreSQL 18[^]*\n0 faults, \d+ warnings\n$/);
});

test('a key file that is not there is a finding, and no outage of the database', async () => {
  const answer = await examine({ CHECKPOINT_KEY_FILE: '/no/such', WORKER_KEY_FILE: '/no/such' });
  const faults = answer.findings.filter(({ verdict }) => verdict === 'fault').map(({ found }) => found);
  const missing = ['WORKER_KEY_FILE', 'CHECKPOINT_KEY_FILE'].map((name) => `${name}: cannot be read (ENOENT)`);
  expect([answer.code, faults]).toEqual([1, missing]);
});

test('each fault is found, with what to do, and leaves with 1', async () => {
  const name = new URL(database.url).pathname.slice(1);
  const partnerId = await insertPartner(sql);
  await insertEncryptedWebhook(sql, partnerId, 'https://no-such-name.invalid/');
  const { id: webhookId } = await insertEncryptedWebhook(sql, partnerId, 'http://127.0.0.1:9/');
  await commitEvents(sql, partnerId, 1);
  const [delivery] = await readDeliveries(sql, webhookId);
  await sql`
    insert into attempts (delivery_id, number, webhook_id, partner_id, outcome, started_at, recorded_at, url, claim)
    select id, 1, webhook_id, partner_id, 'desconhecido', now(), now() - interval '10 minutes', 'u', 'p/1'
    from deliveries where id = ${delivery?.id ?? ''}`;
  await sql`update deliveries set next_attempt_at = now() - interval '5 minutes' where webhook_id = ${webhookId}`;
  await sql`grant delete on attempts to carteiro_app`;
  await sql.unsafe(`alter database ${name} set synchronous_commit = off`);

  const sick = await examine({ SECRETS_KEY: OTHER, JWT_JWKS_URL: 'http://127.0.0.1:1/keys' });
  expect(sick.code).toBe(1);
  expect(faultsOf(sick)).toEqual(
    expect.arrayContaining([
      'synchronous_commit',
      'tokens',
      'grants',
      'definitions',
      'secrets',
      'sealer',
      'deliveries',
      'dns',
    ]),
  );
  for (const { verdict, advice } of sick.findings) expect(advice === null).toBe(verdict === 'ok');
  const found = (about: string) =>
    sick.findings.find((finding) => finding.about === about && finding.verdict === 'fault');
  expect(found('secrets')).toMatchObject({
    found: 'SECRETS_KEY opens none of the 2 stored signing secrets',
    stops: true,
  });
  expect(found('grants')?.advice).toContain('revoke update, delete, truncate on attempts from carteiro_app');
  expect(JSON.stringify(sick)).not.toContain(KEY);
  await sql.unsafe(`alter database ${name} reset synchronous_commit`);
  await sql`revoke delete on attempts from carteiro_app`;
  // Where the proxy alone resolves names, what this host resolves tells nothing.
  const proxied = await examine({ EGRESS_PROXY_URL: 'http://127.0.0.1:9', EGRESS_PROXY_RESOLVES: 'true' });
  expect(faultsOf(proxied)).not.toContain('dns');
});

test('names who lives: every api dead while a poller lives is a fault, and the metrics of the poller tell it too', async () => {
  const partnerId = await insertPartner(sql);
  await commitEvents(sql, partnerId, 1);
  const env = { DATABASE_URL: database.url, SANDBOX: 'true', SECRETS_KEY: KEY, PORT: '0', METRICS_PORT: '0' };
  const [api, poll] = await Promise.all([startServing('api', env), startServing('poll', env)]);
  while ((await sql`select from processes`).length < 2) await new Promise((resolve) => setTimeout(resolve, 20));
  const verdicts = async () => {
    const { findings } = await examine();
    const found = findings.filter(({ about }) => about === 'api' || about === 'poller');
    return found.map(({ about, verdict }) => `${about} ${verdict}`);
  };
  expect(await verdicts()).toEqual(['api ok', 'poller ok']);
  await api.end('SIGKILL');
  await sql`update processes set seen_at = now() - interval '31 seconds' where role = 'api'`;
  expect(await verdicts()).toEqual(['api fault', 'poller ok']);
  const shown = await (await fetch(`${poll.url}/metrics`)).text();
  expect(shown).toMatch(/^carteiro_processes\{role="api",state="alive"\} 0$/m);
  expect(shown).toMatch(/^carteiro_processes\{role="api",state="lost"\} 1$/m);
  expect(shown).toMatch(/^carteiro_projector_lag_seconds [\d.e-]+$/m);
  await poll.end('SIGTERM');
  expect(await sql`select role from processes`).toEqual([{ role: 'api' }]);
  await sql`delete from processes`;
});

test('a login of little right is told what it may not see; a database without migrations stops at those', async () => {
  const login = await createLogin(database, 'carteiro_poller');
  const little = await examine({ DATABASE_URL: login.url });
  await login.remove();
  expect(little.findings.find(({ about }) => about === 'login')?.found).toContain('carteiro_poller');
  const empty = await createEmptyDatabase();
  const answer = await examine({ DATABASE_URL: empty.url });
  await empty.drop();
  expect([answer.code, faultsOf(answer)]).toEqual([1, ['migrations']]);
  expect(answer.findings.at(-1)?.advice).toContain('migrate');
});

test('says what a login may not see, and what to grant; once granted, a transaction left open is seen', async () => {
  const login = await createLogin(database, 'carteiro_app');
  const look = async () => {
    const { findings } = await examine({ DATABASE_URL: login.url });
    return findings.filter(({ about }) => about === 'transactions');
  };
  const [blind] = await look();
  expect(blind).toMatchObject({ verdict: 'warning', found: expect.stringContaining('may not see') as string });
  const [, grant = ''] = /(grant pg_monitor to \w+)/.exec(blind?.advice ?? '') ?? [];
  await sql.unsafe(grant);
  expect(await look()).toMatchObject([{ verdict: 'ok' }]);
});

test('a secret whose bytes were altered is a fault, though its key is there', async () => {
  const partnerId = await insertPartner(sql);
  const { id } = await insertEncryptedWebhook(sql, partnerId, 'http://127.0.0.1:9/');
  await sql`update webhooks set encrypted_secret = set_byte(encrypted_secret, 40, 255 - get_byte(encrypted_secret, 40)) where id = ${id}`;
  const { code, findings } = await examine();
  const found = findings.filter(({ about, verdict }) => about === 'secrets' && verdict !== 'ok');
  expect([code, found]).toMatchObject([1, [{ verdict: 'fault', found: expect.stringContaining(`(${id})`) as string }]]);
  await sql`delete from webhooks where id = ${id}`;
});

test('a login that is a member of no role is a fault, because the doctor sees nothing for it', async () => {
  const login = await createLogin(database);
  const stranger = await examine({ DATABASE_URL: login.url });
  await login.remove();
  expect([stranger.code, faultsOf(stranger)]).toEqual([1, ['login']]);
  expect(stranger.findings.at(-1)?.advice).toContain('grant carteiro_app');
});

test('leaves with 3 where no database answers, and with 2 in an environment that cannot be used', async () => {
  const away = await callCommand(['doctor'], { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none', SANDBOX: 'true' });
  expect([away.code, away.stdout]).toEqual([3, '']);
  expect((await callCommand(['doctor'], { DATABASE_URL: 'x' })).code).toBe(2);
});
