/** A poller as operators run it: the real command in a separate process. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import manifest from '../../package.json' with { type: 'json' };
import type { Sql } from '../../src/db/pool.ts';
import { createVault, newSecret } from '../../src/webhooks/secrets.ts';
import type { TestWebhook } from './outbox.ts';

const MAIN = path.resolve(import.meta.dirname, '../../src/main.ts');
const KEY = Buffer.alloc(32, 7);

/** Kills the pollers of a test that failed, also those still starting. */
const living = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of living) child.kill('SIGKILL');
});

export interface PollerProcess {
  readonly pid: number;
  /** Its log lines so far. */
  readonly lines: readonly string[];
  /** Sends a signal and resolves with the exit code when the process is gone. */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null>;
}

/** The memory limits of the npm script `poll`. */
const FLAGS = manifest.scripts.poll.match(/--\S+/g) ?? [];
const ENVIRONMENT = Object.fromEntries(
  [...manifest.scripts.poll.matchAll(/\b([A-Z_]+)=(\S+)/g)].map(([, name, value]) => [name, value]),
) as Record<string, string>;

/** Starts `carteiro poll` on the database, behind a command that runs it elsewhere; resolves when it delivers. */
export async function startPollerProcess(
  databaseUrl: string,
  env: Record<string, string> = {},
  prefix: readonly string[] = [],
): Promise<PollerProcess> {
  const [program = '', ...args] = [...prefix, process.execPath, ...FLAGS, MAIN, 'poll'];
  const child: ChildProcess = spawn(program, args, {
    env: {
      PATH: process.env['PATH'],
      ...ENVIRONMENT,
      DATABASE_URL: databaseUrl,
      SANDBOX: 'true',
      ALLOW_INSECURE_TARGETS: 'true',
      METRICS_PORT: '0',
      SECRETS_KEY: KEY.toString('base64'),
      ...env,
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const exited = once(child, 'exit') as Promise<[number | null]>;
  living.add(child);
  void exited.then(() => living.delete(child));
  const lines: string[] = [];
  const { promise: ready, resolve, reject } = Promise.withResolvers<void>();
  if (!child.stderr || child.pid === undefined) throw new Error('the poller did not start');
  createInterface({ input: child.stderr }).on('line', (line) => {
    lines.push(line);
    if (line.includes('the poller delivers')) resolve();
  });
  void exited.then(([code]) => reject(new Error(`the poller left with code ${code}: ${lines.join('\n')}`)));
  await ready;
  return {
    pid: child.pid,
    lines,
    async end(signal) {
      child.kill(signal);
      const [code] = await exited;
      return code;
    },
  };
}

/** Registers `url` with a secret that poller processes can open. */
export async function insertEncryptedWebhook(sql: Sql, partnerId: string, url: string): Promise<TestWebhook> {
  const secret = newSecret();
  const [{ id }] = await sql<[{ id: string }]>`select uuidv7() as id`;
  await sql`
    insert into webhooks (id, partner_id, url, events, encrypted_secret)
    values (${id}, ${partnerId}, ${url}, '{desembolso.falhou}', ${createVault([KEY]).encrypt(id, secret)})`;
  return { id, secret };
}
