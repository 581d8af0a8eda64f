/**
 * The environment as one frozen Config. Every problem is told at once, by variable and rule: a value is never repeated,
 * because it may be a secret in the wrong place. An empty variable counts as absent. One line end after a value is no part
 * of it: the files that secrets are made of have one.
 */
import { z } from 'zod';
import { ANCHOR_VARIABLES, type AnchorSettings, anchorSettings, hasAnchors } from './anchor-settings.ts';
import { ARCHIVE_VARIABLES, type ArchiveSettings, archiveSettings } from './archive-settings.ts';
import { DATABASE_VARIABLES, readingSettings, type ReadingSettings } from './database-url.ts';
import { EGRESS_VARIABLES, egressSettings, type EgressSettings } from './egress-settings.ts';
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
  webUrl,
} from './environment-rules.ts';
import { type Schedules, SCHEDULES, schedulesOf } from './job-schedules.ts';
import { isTrustworthy, type RegistrySettings, registrySettings, registryVariables } from './registry-settings.ts';

export const DEFAULT_DATA_DIR = '.data';

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

export interface Config {
  /** 0 lets the system choose. */
  readonly port: number;
  readonly host: string;
  /** Where `poll` serves its metrics; 0 lets the system choose. */
  readonly metricsPort: number;
  /** Where the registry is asked; `url` is empty where none is configured. */
  readonly bridge: RegistrySettings;
  /** How POSTs leave for partners. */
  readonly egress: EgressSettings;
  /** Where others find the service; null: nobody has told. */
  readonly publicUrl: URL | null;
  /** Null: the embedded PostgreSQL under `dataDir`. */
  readonly databaseUrl: string | null;
  /** For migrations and advisory locks: `databaseUrl`, or the way around its pooler. */
  readonly directDatabaseUrl: string | null;
  /** The standby that reports are read on; null: the primary. */
  readonly reading: ReadingSettings | null;
  /** Holds everything that Carteiro makes; `<schema>_auditoria` beside it the auditors' views. */
  readonly databaseSchema: string;
  /** The roles are `<prefix>_owner`, `<prefix>_app` and so on. */
  readonly databaseRolePrefix: string;
  /** Prepared statements; false behind a pooler in transaction mode. */
  readonly databasePrepare: boolean;
  readonly dataDir: string;
  readonly sandbox: boolean;
  readonly allowInsecureTargets: boolean;
  readonly jwtIssuer: string;
  readonly jwtAudience: string;
  /** Null: the service's own key pair under `dataDir`. */
  readonly jwtJwksUrl: string | null;
  /** Keys of 32 bytes: the first encrypts, all open. Empty in a sandbox that makes its own. */
  readonly secretsKeys: readonly Buffer[];
  /** A file of the keys that sign checkpoints; null: in a sandbox the one under `dataDir`, else none. */
  readonly checkpointKeyFile: string | null;
  /** Whether each POST carries the newest checkpoint. */
  readonly checkpointHeader: boolean;
  /** A file of the key under which workers are found by CPF; null: in a sandbox the one under `dataDir`, else none. */
  readonly workerKeyFile: string | null;
  /** For how many years after its end the law has a loan's data kept. */
  readonly eraseAfterYears: number;
  /** Which places outside keep checkpoints. */
  readonly anchors: AnchorSettings;
  /** How the places are reached where archived months lie. */
  readonly archive: ArchiveSettings;
  readonly logLevel: (typeof LOG_LEVELS)[number];
  /** Who writes the loans: partners through us, or the lender's core. */
  readonly loanCore: 'own' | 'outside';
  readonly marginReuseHours: number;
  readonly documentsDeadlineDays: number;
  /** Requests per partner and minute; 0 for no limit. */
  readonly rateLimitPerMinute: number;
  /** Connections that the API holds open. */
  readonly maxConnections: number;
  /** The same from one address that is no proxy's; 0 for no bound. */
  readonly maxConnectionsPerAddress: number;
  /** Addresses and subnets of proxies, which open connections for many clients. */
  readonly trustedProxies: readonly string[];
  /** How long a stopping API still takes requests while it is no longer ready. */
  readonly drainDelayS: number;
  /** Deliveries in flight per poller. */
  readonly pollerCapacity: number;
  /** When a webhook is `falhando`, and suspended (delivery/queue/upkeep/failing-rule); null: never. */
  readonly failingPolicy: {
    readonly failingAfter: number;
    readonly failingHours: number;
    readonly suspendAfterDays: number | null;
  } | null;
  /** When `api` runs each job by itself. */
  readonly jobs: Schedules;
  /** Where the operator is told of failing webhooks; null: nowhere. */
  readonly operatorWebhook: { readonly url: string; readonly secret: string } | null;
}

/** The environment cannot be used; the message lists every problem, one a line. */
export class ConfigError extends Error {
  override name = 'ConfigError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`invalid environment:\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
    this.problems = problems;
  }
}

const environment = z.object({
  PORT: integer(0, 65_535).default(3000),
  HOST: z.string().regex(/^\S+$/, 'must be a host name or an address').default('127.0.0.1'),
  METRICS_PORT: integer(0, 65_535).default(9464),
  PUBLIC_URL: webUrl.transform((text) => new URL(text)).optional(),
  ...DATABASE_VARIABLES,
  DATA_DIR: z.string().default(DEFAULT_DATA_DIR),
  SANDBOX: flag.optional(),
  ALLOW_INSECURE_TARGETS: flag.optional(),
  JWT_ISSUER: z.string().default('https://carteiro.local'),
  JWT_AUDIENCE: z.string().default('carteiro'),
  JWT_JWKS_URL: z.string().refine(isTrustworthy, 'must be an https URL, or an http URL on the loopback').optional(),
  SECRETS_KEY: keyRing.default([]),
  CHECKPOINT_KEY_FILE: z.string().optional(),
  CHECKPOINT_HEADER: flag.default(true),
  WORKER_KEY_FILE: z.string().optional(),
  ERASE_AFTER_YEARS: integer(0, 100).default(5),
  ...ANCHOR_VARIABLES,
  ...ARCHIVE_VARIABLES,
  LOG_LEVEL: z.enum(LOG_LEVELS, `must be one of ${LOG_LEVELS.join(', ')}`).default('info'),
  LOAN_CORE: z.enum(['own', 'outside'], 'must be own or outside').default('own'),
  MARGIN_REUSE_HOURS: integer(0, 8_760).default(24),
  DOCUMENTS_DEADLINE_DAYS: integer(1, 3_650).default(15),
  RATE_LIMIT_PER_MINUTE: integer(0, 1_000_000).optional(),
  MAX_CONNECTIONS: integer(1, 1_000_000).default(400),
  MAX_CONNECTIONS_PER_ADDRESS: integer(0, 1_000_000).default(100),
  TRUSTED_PROXIES: subnets.prefault(PRIVATE_NETWORKS),
  DRAIN_DELAY_SECONDS: integer(0, 60).default(0),
  POLLER_CAPACITY: integer(1, 5_000).default(512),
  ENDPOINT_FAILING_AFTER: integerOr('off', 1, 1_000_000).default(10),
  ENDPOINT_FAILING_HOURS: integer(1, 8_760).default(24),
  ENDPOINT_SUSPEND_AFTER_DAYS: integerOr('never', 1, 3_650).default(5),
  ...SCHEDULES,
  ...registryVariables(integer),
  ...EGRESS_VARIABLES,
  OPERATOR_WEBHOOK_URL: webUrl.optional(),
  OPERATOR_WEBHOOK_SECRET: z
    .string()
    .refine((text) => text.startsWith('whsec_') && KEY.test(text.slice(6)), 'must be whsec_ and base64 of 32 bytes')
    .optional(),
});

/** Every variable that there is. */
export const VARIABLES: readonly string[] = Object.keys(environment.shape);

type Environment = Readonly<Record<string, string | undefined>>;

/** What a command does that a sandbox has settings of its own for: it opens signing secrets, or verifies tokens. */
export type Use = 'secrets' | 'tokens';

const REQUIRED_OUTSIDE_SANDBOX: Readonly<Record<Use, readonly string[]>> = {
  secrets: ['SECRETS_KEY'],
  tokens: ['JWT_ISSUER', 'JWT_AUDIENCE', 'JWT_JWKS_URL'],
};

/** Rules between variables; they are checked on the text, so that they are told beside the rules of each variable. */
function checkTogether(given: Environment, uses: readonly Use[]): string[] {
  const isEmbedded = given['DATABASE_URL'] === undefined;
  const sandbox = given['SANDBOX'] === undefined ? isEmbedded : given['SANDBOX'] !== 'false';
  const missing = uses
    .flatMap((use) => REQUIRED_OUTSIDE_SANDBOX[use])
    .filter((name) => !sandbox && given[name] === undefined);
  return [
    ...checkPairs(given),
    ...missing.map((name) => `${name}: is required when SANDBOX is false`),
    ...(isEmbedded ? checkEmbedded(given) : []),
  ];
}

/** Reads the configuration of a command that uses these. Throws {@link ConfigError} with every problem. */
export function readConfig(variables: Environment, uses: readonly Use[] = ['secrets', 'tokens']): Config {
  const trimmed = Object.entries(variables).map(([name, value]) => [name, value?.replace(/\r?\n$/, '')] as const);
  const given = Object.fromEntries(trimmed.filter(([, value]) => value !== ''));
  const parsed = environment.safeParse(given);
  const single = parsed.error?.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`) ?? [];
  const problems = [...single, ...checkTogether(given, uses)];
  if (!parsed.success || problems.length > 0) throw new ConfigError(problems);
  const values = parsed.data;
  const isEmbedded = values.DATABASE_URL === undefined;
  const sandbox = values.SANDBOX ?? isEmbedded;
  const [hasRegistry, dropsMonths] = [values.REGISTRY_URL !== undefined, (values.KEEP_MONTHS ?? null) !== null];
  const [anchors, archive] = [anchorSettings(values), archiveSettings(values)];
  return Object.freeze({
    port: values.PORT,
    host: values.HOST,
    metricsPort: values.METRICS_PORT,
    publicUrl: values.PUBLIC_URL ?? null,
    databaseUrl: values.DATABASE_URL ?? null,
    directDatabaseUrl: values.DIRECT_DATABASE_URL ?? values.DATABASE_URL ?? null,
    reading: readingSettings(values),
    databaseSchema: values.DATABASE_SCHEMA,
    databaseRolePrefix: values.DATABASE_ROLE_PREFIX,
    databasePrepare: values.DATABASE_PREPARE,
    dataDir: values.DATA_DIR,
    sandbox,
    // Insecure targets are the default of the embedded sandbox alone: nobody else's database is behind it.
    allowInsecureTargets: values.ALLOW_INSECURE_TARGETS ?? isEmbedded,
    jwtIssuer: values.JWT_ISSUER,
    jwtAudience: values.JWT_AUDIENCE,
    jwtJwksUrl: values.JWT_JWKS_URL ?? null,
    secretsKeys: Object.freeze(values.SECRETS_KEY),
    checkpointKeyFile: values.CHECKPOINT_KEY_FILE ?? null,
    checkpointHeader: values.CHECKPOINT_HEADER,
    workerKeyFile: values.WORKER_KEY_FILE ?? null,
    eraseAfterYears: values.ERASE_AFTER_YEARS,
    anchors,
    archive,
    logLevel: values.LOG_LEVEL,
    loanCore: values.LOAN_CORE,
    marginReuseHours: values.MARGIN_REUSE_HOURS,
    documentsDeadlineDays: values.DOCUMENTS_DEADLINE_DAYS,
    rateLimitPerMinute: values.RATE_LIMIT_PER_MINUTE ?? (sandbox ? 0 : 600),
    maxConnections: values.MAX_CONNECTIONS,
    maxConnectionsPerAddress: values.MAX_CONNECTIONS_PER_ADDRESS,
    trustedProxies: Object.freeze(values.TRUSTED_PROXIES),
    drainDelayS: values.DRAIN_DELAY_SECONDS,
    pollerCapacity: values.POLLER_CAPACITY,
    bridge: registrySettings(values.REGISTRY_URL ?? '', values),
    egress: egressSettings(values),
    jobs: schedulesOf(values, { sandbox, hasRegistry, dropsMonths, hasAnchors: hasAnchors(anchors) }),
    ...failingEndpoints(values),
  });
}

function failingEndpoints(values: z.infer<typeof environment>): Pick<Config, 'failingPolicy' | 'operatorWebhook'> {
  const { ENDPOINT_FAILING_AFTER: failingAfter, ENDPOINT_FAILING_HOURS: failingHours } = values;
  const { OPERATOR_WEBHOOK_URL: url, OPERATOR_WEBHOOK_SECRET: secret } = values;
  const policy = { failingHours, suspendAfterDays: values.ENDPOINT_SUSPEND_AFTER_DAYS };
  return {
    failingPolicy: failingAfter === null ? null : { failingAfter, ...policy },
    operatorWebhook: url !== undefined && secret !== undefined ? { url, secret } : null,
  };
}
