import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from 'vitest';
import { ConfigError, readConfig, VARIABLES } from '../src/config.ts';

const KEY = randomBytes(32).toString('base64');
const OLD_KEY = randomBytes(32).toString('base64');

const PRODUCTION = {
  DATABASE_URL: 'postgres://carteiro:hunter2@db.example/carteiro',
  SECRETS_KEY: KEY,
  JWT_ISSUER: 'https://login.example',
  JWT_AUDIENCE: 'carteiro',
  JWT_JWKS_URL: 'https://login.example/jwks.json',
};

function problemsOf(environment: Record<string, string>): readonly string[] {
  try {
    readConfig(environment);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

describe('the configuration', () => {
  it('of an empty environment is an embedded sandbox on the loopback', () => {
    expect(readConfig({})).toMatchObject({
      host: '127.0.0.1',
      metricsPort: null,
      databaseUrl: null,
      directDatabaseUrl: null,
      sandbox: true,
      allowInsecureTargets: true,
      secretsKeys: [],
      hasAnchors: false,
      egressIps: [],
      trustedProxies: '127.0.0.0/8,::1,10.0.0.0/8,172.16.0.0/12,192.168.0.0/16,100.64.0.0/10,fc00::/7'.split(','),
      rateLimitPerMinute: 0,
      failingPolicy: { failingAfter: 10, failingHours: 24, suspendAfterDays: 5 },
      jobs: { anchor: null, 'sync-bonds': null, 'close-settlement': null },
      operatorWebhook: null,
    });
  });

  it('has the defaults that its page tells, and the page has every variable', () => {
    const page = readFileSync(new URL('../src/main/README.md', import.meta.url), 'utf8');
    const config = readConfig({}) as Readonly<Record<string, unknown>>;
    const rows = [...page.matchAll(/^\| (`[A-Z][A-Z0-9_*`, ]*`) \| ([^|]*) \|/gm)];
    const reported = rows.flatMap(([, names = '', values = '']) => {
      const given = values.split(', ');
      return names
        .split(', ')
        .map((name, index) => [name.replaceAll('`', ''), given[index] ?? given[0] ?? ''] as const);
    });
    expect(
      VARIABLES.filter((variable) => !reported.some(([name]) => name === variable.replace(/^ANCHOR_.*/, 'ANCHOR_*'))),
    ).toEqual([]);
    const settingOf = (name: string) =>
      config[name.toLowerCase().replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase())] ?? null;
    const isSo = ([name, value]: readonly [string, string]): boolean => {
      const shown = JSON.stringify(settingOf(name)).replaceAll('"', '');
      if (value === 'none' || value === '`all`') return ['null', '[]'].includes(shown);
      const [, literal = name] = /^`?([^`]+)`?$/.exec(/^(`[^`]+`|\d+)$/.test(value) ? value : name) ?? [];
      return (
        VARIABLES.includes(literal) || literal === shown || isDeepStrictEqual(readConfig({ [name]: literal }), config)
      );
    };
    expect(reported.filter((row) => !isSo(row))).toEqual([]);
  });

  it('is frozen', () => {
    const config = readConfig({});
    expect(Object.isFrozen(config)).toBe(true);
    expect(Object.isFrozen(config.secretsKeys)).toBe(true);
  });

  it('with a database is a guarded production with a rate limit', () => {
    expect(readConfig(PRODUCTION)).toMatchObject({
      sandbox: false,
      allowInsecureTargets: false,
      directDatabaseUrl: PRODUCTION.DATABASE_URL,
      rateLimitPerMinute: 600,
    });
  });

  it('never allows insecure targets by default outside an embedded sandbox', () => {
    expect(readConfig({ ...PRODUCTION, SANDBOX: 'true' }).allowInsecureTargets).toBe(false);
    expect(readConfig({ ALLOW_INSECURE_TARGETS: 'false' }).allowInsecureTargets).toBe(false);
    expect(readConfig({ ...PRODUCTION, ALLOW_INSECURE_TARGETS: 'true' }).allowInsecureTargets).toBe(true);
  });

  it('keeps the key ring in order', () => {
    const { secretsKeys } = readConfig({ ...PRODUCTION, SECRETS_KEY: `${KEY}, ${OLD_KEY}` });
    expect(secretsKeys.map((key) => key.toString('base64'))).toEqual([KEY, OLD_KEY]);
  });

  it('does not take the line end of a secret’s file for a part of the value', () => {
    const withLineEnds = Object.entries(PRODUCTION).map(([name, value], index) => [
      name,
      `${value}${index % 2 === 0 ? '\n' : '\r\n'}`,
    ]);
    expect(readConfig(Object.fromEntries(withLineEnds))).toEqual(readConfig(PRODUCTION));
    expect(readConfig({ DATA_DIR: '\n' }).dataDir).toBe('.data');
    expect(problemsOf({ DATABASE_URL: `${PRODUCTION.DATABASE_URL}\n\n` })).toContain(
      'DATABASE_URL: must be a postgres:// URL',
    );
  });

  it('takes an empty variable as absent', () => {
    expect(readConfig({ DATABASE_URL: '', SANDBOX: '', PORT: '' })).toEqual(readConfig({}));
  });

  it('reads how POSTs leave, and refuses what could not work', () => {
    const read = readConfig({
      EGRESS_IPS: '203.0.113.7, 2001:db8::/32',
      EGRESS_PROXY_URL: 'http://proxy.lan:3128',
    });
    expect(read).toMatchObject({
      egressIps: ['203.0.113.7', '2001:db8::/32'],
      egressProxyUrl: 'http://proxy.lan:3128',
      egressProxyAuthFile: null,
      egressProxyResolves: false,
    });
    expect(problemsOf({ EGRESS_IPS: 'mail.example.com', EGRESS_PROXY_URL: 'http://ana:s3nha@proxy.lan' })).toEqual([
      'EGRESS_IPS: must be addresses or subnets (203.0.113.0/28) separated by commas, at most 64',
      'EGRESS_PROXY_URL: must be http:// or https:// with a host and a port alone; a user and a password belong in EGRESS_PROXY_AUTH_FILE',
    ]);
    expect(problemsOf({ EGRESS_CERT_FILE: 'c.pem', EGRESS_PROXY_RESOLVES: 'true' })).toEqual([
      'EGRESS_KEY_FILE: is required beside EGRESS_CERT_FILE',
      'EGRESS_PROXY_URL: is required beside EGRESS_PROXY_RESOLVES',
    ]);
  });

  it('takes addresses and subnets as proxies, and none', () => {
    expect(readConfig({ TRUSTED_PROXIES: '203.0.113.7, 2001:db8::/32' }).trustedProxies).toEqual([
      '203.0.113.7',
      '2001:db8::/32',
    ]);
    expect(readConfig({ TRUSTED_PROXIES: 'none' }).trustedProxies).toEqual([]);
    for (const TRUSTED_PROXIES of ['proxy.example', '10.0.0.0/33', '10.0.0.0/', '10.0.0.0/8/8', '::/129', '1,']) {
      expect(problemsOf({ TRUSTED_PROXIES })).toEqual([
        'TRUSTED_PROXIES: must be addresses or subnets (10.0.0.0/8) separated by commas, or none',
      ]);
    }
  });

  it('takes the TLS parameters of psql in a URL, and refuses those that would verify nothing', () => {
    const problems = (parameters: string) =>
      problemsOf({ ...PRODUCTION, DATABASE_URL: `${PRODUCTION.DATABASE_URL}?${parameters}` });
    const known = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'];
    for (const mode of known) expect(problems(`sslmode=${mode}`)).toEqual([]);
    expect(problems('sslmode=verify-full&sslrootcert=/etc/carteiro/ca.pem')).toEqual([]);
    expect(problems('sslmode=verify_full')).toEqual([`DATABASE_URL: sslmode in it must be one of ${known.join(', ')}`]);
    for (const weak of ['', 'sslmode=require&']) {
      expect(problems(`${weak}sslrootcert=/etc/carteiro/ca.pem`)).toEqual([
        'DATABASE_URL: sslrootcert in it needs sslmode=verify-full or verify-ca beside it',
      ]);
    }
  });

  it('takes port 0 and refuses what is no port', () => {
    expect(readConfig({ PORT: '0' }).port).toBe(0);
    for (const PORT of ['-1', '65536', '3000a', '1e3', ' 80']) {
      expect(problemsOf({ PORT })).toEqual(['PORT: must be an integer from 0 to 65535']);
    }
  });

  it('takes true and false for booleans and nothing else', () => {
    for (const SANDBOX of ['1', 'TRUE', 'yes', 'false ']) {
      expect(problemsOf({ SANDBOX })).toContain('SANDBOX: must be true or false');
    }
  });

  it('takes a key set over http on the loopback only', () => {
    for (const url of ['https://a.example/jwks', 'http://localhost:1/jwks', 'http://127.0.0.2/', 'http://[::1]:9/']) {
      expect(problemsOf({ ...PRODUCTION, JWT_JWKS_URL: url })).toEqual([]);
    }
    for (const url of ['http://a.example/jwks', 'http://127.0.0.1.example/', 'ftp://localhost/', 'jwks.json']) {
      expect(problemsOf({ ...PRODUCTION, JWT_JWKS_URL: url })).toEqual([
        'JWT_JWKS_URL: must be an https URL, or an http URL on the loopback',
      ]);
    }
  });

  it('refuses to start outside the sandbox without keys and issuer', () => {
    expect(problemsOf({ DATABASE_URL: PRODUCTION.DATABASE_URL })).toEqual([
      'SECRETS_KEY: is required when SANDBOX is false',
      'JWT_ISSUER: is required when SANDBOX is false',
      'JWT_AUDIENCE: is required when SANDBOX is false',
      'JWT_JWKS_URL: is required when SANDBOX is false',
    ]);
  });

  it('asks a command for no more than it uses: a poller for the keys, a migration for neither', () => {
    const { DATABASE_URL, SECRETS_KEY } = PRODUCTION;
    expect(readConfig({ DATABASE_URL }, []).sandbox).toBe(false);
    expect(readConfig({ DATABASE_URL, SECRETS_KEY }, ['secrets']).secretsKeys).toHaveLength(1);
    expect(() => readConfig({ DATABASE_URL }, ['secrets'])).toThrow(/SECRETS_KEY: is required(?!.*JWT)/s);
    expect(() => readConfig({ DATABASE_URL, SECRETS_KEY }, ['tokens'])).toThrow('JWT_ISSUER: is required');
  });

  it('starts no embedded sandbox where a variable of production is set, for any command', () => {
    const { DATABASE_URL, ...others } = PRODUCTION;
    const production = {
      ...others,
      DIRECT_DATABASE_URL: DATABASE_URL,
      SANDBOX: 'false',
      DATABASE_PREPARE: 'false',
    };
    for (const [name, value] of Object.entries(production)) {
      const shown = value === 'false' ? `${name}=false` : name;
      const problem = `DATABASE_URL: is required beside ${shown}; set it, or for an embedded sandbox unset it`;
      expect(problemsOf({ [name]: value })).toContain(problem);
      expect(() => readConfig({ [name]: value }, [])).toThrow(problem);
      expect(problemsOf({ ...PRODUCTION, [name]: value })).toEqual([]);
    }
    expect(problemsOf(others)).toEqual([
      'DATABASE_URL: is required beside SECRETS_KEY, JWT_ISSUER, JWT_AUDIENCE, JWT_JWKS_URL; set it, or for an embedded sandbox unset them',
    ]);
  });

  it('leaves to an embedded sandbox what it has a use for', () => {
    const sandbox = {
      SANDBOX: 'true',
      ALLOW_INSECURE_TARGETS: 'false',
      DATABASE_PREPARE: 'true',
      RATE_LIMIT_PER_MINUTE: '60',
      POLLER_CAPACITY: '10',
      MARGIN_REUSE_HOURS: '1',
      DOCUMENTS_DEADLINE_DAYS: '3',
      LOG_LEVEL: 'warn',
      HOST: '0.0.0.0',
      TEST_DATABASE_URL: 'postgres://127.0.0.1/x',
    };
    expect(readConfig(sandbox).databaseUrl).toBeNull();
  });

  it('takes a misspelled DATABASE_URL for no embedded sandbox', () => {
    for (const name of ['DATABSE_URL', 'DATABASE_URI', 'DATABASEURL', 'database_url']) {
      const problem = `${name}: is not known here; is DATABASE_URL meant?`;
      expect(problemsOf({ [name]: 'postgres://db/x' })).toEqual([problem]);
    }
    expect(problemsOf({ ...PRODUCTION, DATABSE_URL: 'postgres://db/x' })).toEqual([]);
  });

  it('reads when jobs run: each by cron, or off; in production all that have what they need', () => {
    expect(readConfig({ ...PRODUCTION, REGISTRY_URL: 'https://registry.example/' }).jobs).toEqual({
      balance: '30 2 * * *',
      verify: '0 3 * * *',
      anchor: null,
      drill: '0 6 1 * *',
      maintain: '30 4 * * *',
      'sync-bonds': '0 1 * * *',
      'close-settlement': '0 4 1 * *',
    });
    expect(readConfig(PRODUCTION).jobs['sync-bonds']).toBeNull();
    expect(readConfig({ ...PRODUCTION, ANCHOR_DIRECTORY: '/kept' }).jobs.anchor).toBe('7 * * * *');
    const set = { JOB_BALANCE: 'off', JOB_VERIFY: '0 5 * * 0' };
    expect(readConfig(set).jobs).toMatchObject({ balance: null, verify: '0 5 * * 0' });
    for (const wrong of ['daily', '0 25 * * *', '30 2 * * * *', '0 0 30 2 *'])
      expect(problemsOf({ JOB_BALANCE: wrong })).toEqual([
        'JOB_BALANCE: must be five fields of cron (30 2 * * *), or off',
      ]);
  });

  it('leaves closing months and counting bonds to an outside core; bonds may be counted all the same', () => {
    const outside = { ...PRODUCTION, REGISTRY_URL: 'https://registry.example/', LOAN_CORE: 'outside' };
    expect(readConfig(outside).jobs).toMatchObject({
      balance: '30 2 * * *',
      'sync-bonds': null,
      'close-settlement': null,
    });
    const set = { JOB_SYNC_BONDS: '0 2 * * *', JOB_CLOSE_SETTLEMENT: 'off' };
    expect(readConfig({ ...outside, ...set }).jobs).toMatchObject({
      'sync-bonds': '0 2 * * *',
      'close-settlement': null,
    });
    expect(problemsOf({ ...outside, JOB_CLOSE_SETTLEMENT: '0 4 1 * *' })).toEqual([
      'JOB_CLOSE_SETTLEMENT: must be off, because LOAN_CORE is outside: the core closes its months',
    ]);
  });

  it('wants PUBLIC_URL of whoever demands the handshake', () => {
    expect(readConfig(PRODUCTION).webhookHandshake).toBe(false);
    expect(
      readConfig({ ...PRODUCTION, WEBHOOK_HANDSHAKE: 'true', PUBLIC_URL: 'https://c.example' }).webhookHandshake,
    ).toBe(true);
    expect(problemsOf({ ...PRODUCTION, WEBHOOK_HANDSHAKE: 'true' })).toEqual([
      'WEBHOOK_HANDSHAKE: needs PUBLIC_URL, whose host receivers are asked to allow',
    ]);
  });

  it('reads where checkpoints are kept, and wants of each place all that it needs', () => {
    const s3 = { ANCHOR_S3_URL: 'https://s3.example/bucket/log/', ANCHOR_S3_KEY_ID: 'id', ANCHOR_S3_SECRET_FILE: '/s' };
    const key = `w.example/1+01234567+BA${'A'.repeat(42)}`;
    const witness = { ANCHOR_WITNESS_URL: 'https://w.example/1/', ANCHOR_WITNESS_KEY: key };
    const stamp = { ANCHOR_TIMESTAMP_URL: 'http://tsa.example/', ANCHOR_TIMESTAMP_CA_FILE: '/ca.pem' };
    expect(readConfig({ ...PRODUCTION, ...s3, ...witness, ...stamp, ANCHOR_DIRECTORY: '/kept' })).toMatchObject({
      hasAnchors: true,
      anchorTimestampUrl: 'http://tsa.example/',
      anchorTimestampCaFile: '/ca.pem',
      anchorDirectory: '/kept',
      anchorS3Url: 'https://s3.example/bucket/log',
      anchorS3Region: 'us-east-1',
      anchorS3KeyId: 'id',
      anchorS3SecretFile: '/s',
      anchorWitnessUrl: 'https://w.example/1',
      anchorWitnessKey: key,
    });
    expect(problemsOf({ ANCHOR_S3_URL: 'https://s3.example/b' })).toEqual([
      'ANCHOR_S3_KEY_ID: is required beside ANCHOR_S3_URL',
    ]);
    expect(problemsOf({ ANCHOR_TIMESTAMP_CA_FILE: '/ca' })).toEqual([
      'ANCHOR_TIMESTAMP_URL: is required beside ANCHOR_TIMESTAMP_CA_FILE',
    ]);
    expect(problemsOf({ ANCHOR_DIRECTORY: 'kept' })).toEqual(['ANCHOR_DIRECTORY: must be an absolute path']);
    expect(problemsOf({ ...s3, ANCHOR_S3_URL: 'https://s3.example' })).toEqual([
      'ANCHOR_S3_URL: must name a bucket in its path',
    ]);
    expect(problemsOf({ ...witness, ANCHOR_WITNESS_KEY: 'w+01234567+AQ' })).toEqual([
      'ANCHOR_WITNESS_KEY: must be a key of cosignatures: name+hash+B…',
    ]);
  });

  it('reads the policy for failing endpoints, which is on unless it is off', () => {
    const secret = `whsec_${KEY}`;
    const policy = { ENDPOINT_FAILING_AFTER: '50', ENDPOINT_FAILING_HOURS: '6' };
    const reported = { OPERATOR_WEBHOOK_URL: 'https://alerts.example/carteiro', OPERATOR_WEBHOOK_SECRET: secret };
    expect(readConfig({ ...policy, ENDPOINT_SUSPEND_AFTER_DAYS: '7', ...reported })).toMatchObject({
      failingPolicy: { failingAfter: 50, failingHours: 6, suspendAfterDays: 7 },
      operatorWebhook: { url: reported.OPERATOR_WEBHOOK_URL, secret },
    });
    expect(readConfig({ ...policy, ENDPOINT_SUSPEND_AFTER_DAYS: 'never' })).toMatchObject({
      failingPolicy: { failingAfter: 50, suspendAfterDays: null },
      operatorWebhook: null,
    });
    const off = { ENDPOINT_FAILING_AFTER: 'off' };
    expect(readConfig(off).failingPolicy).toBeNull();
    expect(problemsOf({ ...off, ENDPOINT_FAILING_HOURS: '6', ...reported })).toEqual([
      'ENDPOINT_FAILING_HOURS: means nothing beside ENDPOINT_FAILING_AFTER=off',
      'OPERATOR_WEBHOOK_URL: means nothing beside ENDPOINT_FAILING_AFTER=off',
    ]);
    expect(problemsOf({ ...policy, OPERATOR_WEBHOOK_URL: reported.OPERATOR_WEBHOOK_URL })).toEqual([
      'OPERATOR_WEBHOOK_SECRET: is required beside OPERATOR_WEBHOOK_URL',
    ]);
    const wrong = {
      ENDPOINT_FAILING_AFTER: '0',
      ENDPOINT_FAILING_HOURS: '1.5',
      ENDPOINT_SUSPEND_AFTER_DAYS: 'hunter2',
      OPERATOR_WEBHOOK_URL: 'ftp://hunter2',
      OPERATOR_WEBHOOK_SECRET: 'hunter2',
    };
    expect(problemsOf(wrong)).toEqual([
      'ENDPOINT_FAILING_AFTER: must be an integer from 1 to 1000000, or off',
      'ENDPOINT_FAILING_HOURS: must be an integer from 1 to 8760',
      'ENDPOINT_SUSPEND_AFTER_DAYS: must be an integer from 1 to 3650, or never',
      'OPERATOR_WEBHOOK_URL: must be an absolute https:// URL',
      'OPERATOR_WEBHOOK_SECRET: must be whsec_ and base64 of 32 bytes',
    ]);
  });

  it.each(['JWT_JWKS_URL', 'PUBLIC_URL', 'ANCHOR_TIMESTAMP_URL'])('takes no password in %s', (name) => {
    expect(problemsOf({ ...PRODUCTION, [name]: 'https://user:hunter2@login.example/' })).toEqual([
      `${name}: must have no user and no password in it`,
    ]);
  });

  it('tells every problem at once, by variable and rule, and repeats no value', () => {
    const wrong = {
      DATABASE_URL: 'mysql://user:hunter2@db/x',
      SECRETS_KEY: `${KEY},c2hvcnQ=`,
      JWT_ISSUER: 'https://login.example',
      LOG_LEVEL: 'hunter2',
      POLLER_CAPACITY: '5001',
      PORT: 'hunter2',
    };
    const problems = problemsOf(wrong);
    const named = new Set(problems.map((problem) => problem.split(':')[0]));
    expect(problems).toHaveLength(7);
    expect(named).toEqual(
      new Set(['DATABASE_URL', 'JWT_AUDIENCE', 'JWT_JWKS_URL', 'LOG_LEVEL', 'POLLER_CAPACITY', 'PORT', 'SECRETS_KEY']),
    );
    const message = problems.join('\n');
    for (const value of ['hunter2', KEY, 'c2hvcnQ', '5001']) expect(message).not.toContain(value);
  });
});
