/**
 * The environment as one frozen Config. All problems are reported at once by variable and rule, never by value, which may be a misplaced
 * secret. An empty variable counts as absent. One trailing line end is dropped: files of secrets have one.
 */
import { z } from 'zod';
import { DATABASE_VARIABLES } from './settings/database-url.ts';
import {
  checkEmbedded,
  checkPairs,
  flag,
  integer,
  integerOr,
  KEY,
  keyRing,
  PRIVATE_NETWORKS,
  subnets,
  trustedUrl,
  webUrl,
} from './settings/environment-rules.ts';
import { SCHEDULES, schedulesOf } from './settings/job-schedules.ts';
import { NEEDS, OUTSIDE_VARIABLES, REGISTRY_VARIABLES, registrySettings } from './settings/outside-settings.ts';

export const DEFAULT_DATA_DIR = '.data';

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

/** Variables that become settings unchanged: `JWT_ISSUER` is `jwtIssuer`, null where absent. */
const PLAIN = {
  /** 0 lets the system choose, also for METRICS_PORT: where `poll` serves its metrics, and `api` too where it is set. */
  PORT: integer(0, 65_535).default(3000),
  HOST: z.string().regex(/^\S+$/, 'must be a host name or an address').default('127.0.0.1'),
  METRICS_PORT: integer(0, 65_535).optional(),
  /** Where others find the service. */
  PUBLIC_URL: webUrl.transform((text) => new URL(text)).optional(),
  ...DATABASE_VARIABLES,
  DATA_DIR: z.string().default(DEFAULT_DATA_DIR),
  JWT_ISSUER: z.string().default('https://carteiro.local'),
  JWT_AUDIENCE: z.string().default('carteiro'),
  /** Absent: the service's own key pair under DATA_DIR. */
  JWT_JWKS_URL: trustedUrl.optional(),
  /** A file of the keys that sign checkpoints; absent: in a sandbox the one under DATA_DIR, else none. */
  CHECKPOINT_KEY_FILE: z.string().optional(),
  CHECKPOINT_HEADER: flag.default(true),
  /** A file of the key that finds workers by CPF; absent: as for checkpoints. */
  WORKER_KEY_FILE: z.string().optional(),
  /** Years after a loan's end for which the law has its data kept. */
  ERASE_AFTER_YEARS: integer(0, 100).default(5),
  LOG_LEVEL: z.enum(LOG_LEVELS, `must be one of ${LOG_LEVELS.join(', ')}`).default('info'),
  /** For a copy that is inspected first: nothing is served, delivered, asked or closed. */
  QUARANTINE: flag.default(false),
  /** Who writes the loans: partners through us, or the lender's core. */
  LOAN_CORE: z.enum(['own', 'outside'], 'must be own or outside').default('own'),
  MARGIN_REUSE_HOURS: integer(0, 8_760).default(24),
  DOCUMENTS_DEADLINE_DAYS: integer(1, 3_650).default(15),
  /** Open connections of the API, and those from one address that is no proxy's; 0: unbounded. */
  MAX_CONNECTIONS: integer(1, 1_000_000).default(400),
  MAX_CONNECTIONS_PER_ADDRESS: integer(0, 1_000_000).default(100),
  /** Addresses and subnets of proxies, which open connections for many clients. */
  TRUSTED_PROXIES: subnets.prefault(PRIVATE_NETWORKS),
  /** Deliveries in flight per poller. */
  POLLER_CAPACITY: integer(1, 5_000).default(512),
  ...OUTSIDE_VARIABLES,
};

const environment = z.object({
  ...PLAIN,
  SANDBOX: flag.optional(),
  ALLOW_INSECURE_TARGETS: flag.optional(),
  /** Keys of 32 bytes: the first encrypts, all decrypt. Empty in a sandbox that makes its own. */
  SECRETS_KEY: keyRing.default([]),
  /** Per partner; 0: unlimited. */
  RATE_LIMIT_PER_MINUTE: integer(0, 1_000_000).optional(),
  /** How long a stopping API still takes requests while it is no longer ready. */
  DRAIN_DELAY_SECONDS: integer(0, 60).default(0),
  /** When a webhook is `falhando`, and suspended (delivery/queue/maintenance/failing-rule). */
  ENDPOINT_FAILING_AFTER: integerOr('off', 1, 1_000_000).default(10),
  ENDPOINT_FAILING_HOURS: integer(1, 8_760).default(24),
  ENDPOINT_SUSPEND_AFTER_DAYS: integerOr('never', 1, 3_650).default(5),
  /** Gets the notices of failing webhooks for the operator. */
  OPERATOR_WEBHOOK_URL: webUrl.optional(),
  OPERATOR_WEBHOOK_SECRET: z
    .string()
    .refine((text) => text.startsWith('whsec_') && KEY.test(text.slice(6)), 'must be whsec_ and base64 of 32 bytes')
    .optional(),
  ...SCHEDULES,
  ...REGISTRY_VARIABLES,
});

type Camel<S extends string> = S extends `${infer Word}_${infer Rest}`
  ? `${Lowercase<Word>}${Capitalize<Camel<Rest>>}`
  : Lowercase<S>;
type OrNull<T> = undefined extends T ? Exclude<T, undefined> | null : T;
type PlainSettings = {
  readonly [Name in keyof typeof PLAIN as Camel<Name>]: OrNull<z.output<(typeof PLAIN)[Name]>>;
};

export type Config = ReturnType<typeof readConfig>;

/** The message lists every problem, one a line. */
export class ConfigError extends Error {
  override name = 'ConfigError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`invalid environment:\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
    this.problems = problems;
  }
}

/** Where a poller is seen without METRICS_PORT. */
export const POLLER_METRICS_PORT = 9464;

export const VARIABLES: readonly string[] = Object.keys(environment.shape);

type Environment = Readonly<Record<string, string | undefined>>;

/** What a command does for which a sandbox has its own settings: open signing secrets, or verify tokens. */
export type Use = 'secrets' | 'tokens';

const REQUIRED_OUTSIDE_SANDBOX: Readonly<Record<Use, readonly string[]>> = {
  secrets: ['SECRETS_KEY'],
  tokens: ['JWT_ISSUER', 'JWT_AUDIENCE', 'JWT_JWKS_URL'],
};

/** Rules between variables, checked on the text, so that they are reported together with each variable's rules. */
function checkTogether(given: Environment, uses: readonly Use[]): string[] {
  const isEmbedded = given['DATABASE_URL'] === undefined;
  const sandbox = given['SANDBOX'] === undefined ? isEmbedded : given['SANDBOX'] !== 'false';
  const missing = uses
    .flatMap((use) => REQUIRED_OUTSIDE_SANDBOX[use])
    .filter((name) => !sandbox && given[name] === undefined);
  const closesTwice = given['LOAN_CORE'] === 'outside' && (given['JOB_CLOSE_SETTLEMENT'] ?? 'off') !== 'off';
  const isUnnamed = (given['WEBHOOK_HANDSHAKE'] ?? 'false') !== 'false' && given['PUBLIC_URL'] === undefined;
  return [
    ...(isUnnamed ? ['WEBHOOK_HANDSHAKE: needs PUBLIC_URL, whose host receivers are asked to allow'] : []),
    ...(closesTwice
      ? ['JOB_CLOSE_SETTLEMENT: must be off, because LOAN_CORE is outside: the core closes its months']
      : []),
    ...checkPairs(given, NEEDS),
    ...missing.map((name) => `${name}: is required when SANDBOX is false`),
    ...(isEmbedded ? checkEmbedded(given) : []),
  ];
}

/** Throws {@link ConfigError} with every problem. */
export function readConfig(variables: Environment, uses: readonly Use[] = ['secrets', 'tokens']) {
  const trimmed = Object.entries(variables).map(([name, value]) => [name, value?.replace(/\r?\n$/, '')] as const);
  const given = Object.fromEntries(trimmed.filter(([, value]) => value !== ''));
  const parsed = environment.safeParse(given);
  const single = parsed.error?.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`) ?? [];
  const problems = [...single, ...checkTogether(given, uses)];
  if (!parsed.success || problems.length > 0) throw new ConfigError(problems);
  const values = parsed.data;
  const isEmbedded = values.DATABASE_URL === undefined;
  const sandbox = values.SANDBOX ?? isEmbedded;
  const { ENDPOINT_FAILING_AFTER: failingAfter, ENDPOINT_FAILING_HOURS: failingHours } = values;
  const { ENDPOINT_SUSPEND_AFTER_DAYS: suspendAfterDays } = values;
  const { OPERATOR_WEBHOOK_URL: url, OPERATOR_WEBHOOK_SECRET: secret } = values;
  const { ANCHOR_TIMESTAMP_URL, ANCHOR_DIRECTORY, ANCHOR_S3_URL, ANCHOR_WITNESS_URL } = values;
  const hasAnchors = Boolean(ANCHOR_TIMESTAMP_URL ?? ANCHOR_DIRECTORY ?? ANCHOR_S3_URL ?? ANCHOR_WITNESS_URL);
  return Object.freeze({
    ...plainSettings(values),
    directDatabaseUrl: values.DIRECT_DATABASE_URL ?? values.DATABASE_URL ?? null,
    sandbox,
    // Insecure targets are the default of the embedded sandbox alone: nobody else's database is behind it.
    allowInsecureTargets: values.ALLOW_INSECURE_TARGETS ?? isEmbedded,
    secretsKeys: Object.freeze(values.SECRETS_KEY),
    rateLimitPerMinute: values.RATE_LIMIT_PER_MINUTE ?? (sandbox ? 0 : 600),
    drainDelayS: values.DRAIN_DELAY_SECONDS,
    hasAnchors,
    bridge: registrySettings(values.REGISTRY_URL ?? '', values),
    jobs: schedulesOf(values, {
      registry: values.REGISTRY_URL !== undefined,
      anchors: hasAnchors,
      ownCore: values.LOAN_CORE === 'own',
      noSandbox: !sandbox,
    }),
    failingPolicy: failingAfter === null ? null : { failingAfter, failingHours, suspendAfterDays },
    operatorWebhook: url !== undefined && secret !== undefined ? { url, secret } : null,
  });
}

function plainSettings(values: z.infer<typeof environment>): PlainSettings {
  const named = (Object.keys(PLAIN) as (keyof typeof PLAIN)[]).map((name) => {
    const value = values[name] ?? null;
    const camel = name.toLowerCase().replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
    return [camel, Array.isArray(value) ? Object.freeze(value) : value];
  });
  return Object.fromEntries(named) as PlainSettings;
}
