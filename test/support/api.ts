/** The whole API on its own database, called without a socket. */
import { randomBytes } from 'node:crypto';
import { signNote } from '../../src/audit/checkpoint/note.ts';
import { NewestCheckpoint } from '../../src/audit/checkpoint/newest.ts';
import { ConformanceRuns } from '../../src/conformance/runs.ts';
import type { ErrorBody } from '../../src/contract/errors.ts';
import type { Scope } from '../../src/contract/statuses.ts';
import { DEFAULT_INSTALLATION } from '../../src/db/installation.ts';
import { onPrimary } from '../../src/db/reports.ts';
import { rememberOpened } from '../../src/delivery/sending/openers.ts';
import { createSender } from '../../src/delivery/sending/send.ts';
import { openCredentials } from '../../src/webhooks/gateway/credentials.ts';
import { workerKeyOf } from '../../src/core/workers/worker-key.ts';
import { createApp } from '../../src/http/app.ts';
import { createCursors } from '../../src/http/cursor.ts';
import type { HttpDeps } from '../../src/http/deps.ts';
import { sandboxRoutes } from '../../src/http/routes/sandbox.ts';
import { openLocalKeys } from '../../src/http/auth/keys-local.ts';
import type { LogFields, Logger } from '../../src/log-lines.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import { askedBy } from '../../src/main/service/registry.ts';
import { createVault } from '../../src/webhooks/secrets.ts';
import { startRegistry } from './registry.ts';
import { SIGNER } from './checkpoint.ts';
import { createTestDatabase } from './database.ts';
import type { ApiDescription } from './description.ts';
import { type DescribedAnswers, describedAnswers, holdToDescription } from './described-answers.ts';
import { endOf } from './ends.ts';
import { makeTestFolder } from './test-folder.ts';

/** Longer than a file takes on the slowest machine. */
export const TOKEN_TTL_S = 43_200;
export const WORKER_KEY = workerKeyOf(randomBytes(32));

export interface Account {
  readonly name?: string;
  readonly active?: boolean;
  readonly signing?: string;
  readonly documents?: string;
  readonly issuance?: string;
}

export interface Sending {
  readonly token?: string;
  /** Sent as JSON; a string or bytes are sent as they are. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Answer<T = unknown> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: T;
  readonly text: string;
}

export type TestApi = Awaited<ReturnType<typeof startApi>>;

export async function startApi(overrides: Partial<HttpDeps> = {}) {
  const database = await createTestDatabase();
  const { path: dataDir } = await makeTestFolder();
  const tokens = { issuer: 'test-issuer', audience: 'test-audience' };
  const keys = await openLocalKeys({ dataDir, ...tokens });
  const vault = createVault([randomBytes(32)]);
  const lines: { readonly level: keyof Logger; readonly fields: LogFields; readonly message: string }[] = [];
  const at = (level: keyof Logger) => (fields: LogFields, message: string) =>
    void lines.push({ level, fields, message });
  const log: Logger = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
  const registry = await startRegistry(database.pool);
  const { allowInsecure = false } = overrides;
  const conformance = new ConformanceRuns({
    pool: database.pool,
    openers: rememberOpened({
      openSecret: (id, sealed) => vault.decrypt(id, sealed),
      openCredentials: (id, sealed) => openCredentials(vault, id, sealed),
    }),
    openSender: () => createSender({ allowInsecure }),
    checkpoint: new NewestCheckpoint(database.pool, () => performance.now()),
    sign: (report) => signNote(`${report}\n`, [SIGNER]),
    lender: { name: SIGNER.name, url: 'https://carteiro.example.com/', version: '0.0.0' },
    log,
    now: () => new Date(),
    monotonicMs: () => performance.now(),
    idleMs: 1,
  });
  const deps: HttpDeps = {
    pool: database.pool,
    reports: onPrimary(database.pool),
    vault,
    cursors: createCursors(database.pool),
    ...askedBy({ pool: database.pool, log, reuseHours: 24 }, registry),
    log,
    metrics: createMetrics(),
    showsMetrics: true,
    tokens: { keys, ...tokens },
    sandbox: sandboxRoutes,
    loanCore: 'own',
    documentsDeadlineDays: 15,
    handshake: null,
    sendsMail: true,
    egressAddresses: ['203.0.113.0/28', '2001:db8::7'],
    conformance,
    allowInsecure: false,
    rateLimitPerMinute: 0,
    checkpointKeys: [SIGNER],
    sendsCheckpoint: true,
    installation: DEFAULT_INSTALLATION,
    workers: { key: WORKER_KEY, eraseAfterYears: 5 },
    ready: async () => null,
    ...overrides,
  };
  const app = createApp(deps);
  const described = await describe(app, deps);
  const faults = holdToDescription(app, described);
  lines.length = 0;

  return {
    database,
    /** Throws where an answer is not as /openapi.json describes it. */
    app,
    deps,
    vault,
    /** The simulated registry, over the loopback. */
    registry,
    /** Every line that the API logged. */
    lines,
    described,
    /** Creates a partner and returns its id. */
    async partner({ name = 'Parceiro', active = true, signing, documents, issuance }: Account = {}) {
      const [row] = await database.sql<[{ id: string }]>`
        insert into partners (name, active, signing, documents, issuance)
        values (${name}, ${active}, ${signing ?? 'internal'}, ${documents ?? 'agrupada'}, ${issuance ?? 'sincrona'})
        returning id`;
      return row.id;
    },
    token: (partnerId: string | undefined, scopes: readonly Scope[]) =>
      keys.signToken({ ...(partnerId !== undefined && { partnerId }), scopes, ttlSeconds: TOKEN_TTL_S }),
    send: async <T = ErrorBody>(method: string, path: string, sending: Sending = {}) =>
      readAnswer<T>(await app.request(path, requestOf(method, sending))),
    close: endOf(async () => {
      await conformance.close();
      await registry.close();
      await database.drop();
      if (faults.length > 0) throw new AggregateError(faults, faults.map(({ message }) => message).join('\n'));
    }),
  };
}

const descriptions = new Map<string, Promise<DescribedAnswers>>();

/** Its description, which is made of these settings alone: once in a process for each, because it takes 0.2 s. */
function describe(app: TestApi['app'], { allowInsecure, loanCore, sandbox }: HttpDeps): Promise<DescribedAnswers> {
  const key = JSON.stringify([allowInsecure, loanCore, sandbox !== null]);
  const made = async () =>
    describedAnswers((await (await app.request('/openapi.json?para=tudo')).json()) as ApiDescription);
  const described = descriptions.get(key) ?? made();
  descriptions.set(key, described);
  return described;
}

function requestOf(method: string, { token, body, headers }: Sending): RequestInit {
  const isRaw = typeof body === 'string' || body instanceof Uint8Array;
  const sent = isRaw ? body : JSON.stringify(body);
  return {
    method,
    headers: {
      ...(token !== undefined && { Authorization: `Bearer ${token}` }),
      ...(body !== undefined && {
        'Content-Type': 'application/json',
        'Content-Length': String(Buffer.byteLength(sent)),
      }),
      ...headers,
    },
    ...(body !== undefined && { body: sent as string }),
  };
}

async function readAnswer<T>(response: Response): Promise<Answer<T>> {
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: (/json/.test(response.headers.get('Content-Type') ?? '') && text !== '' ? JSON.parse(text) : undefined) as T,
    text,
  };
}
