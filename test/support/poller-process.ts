/** A poller as operators run it: the real command in a separate process. */
import path from 'node:path';
import manifest from '../../package.json' with { type: 'json' };
import type { Sql } from '../../src/db/pool.ts';
import { createVault, newSecret } from '../../src/webhooks/secrets.ts';
import { SANDBOX_KEY, sandboxOn, startProgram } from './command.ts';
import type { TestWebhook } from './outbox.ts';

const MAIN = path.resolve(import.meta.dirname, '../../src/main.ts');

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

/** Starts `carteiro poll` on the database, behind a command that runs it elsewhere, or another checkout's `main`; resolves when it delivers. */
export async function startPollerProcess(
  databaseUrl: string,
  env: Record<string, string> = {},
  prefix: readonly string[] = [],
  main = MAIN,
): Promise<PollerProcess> {
  const words = [...prefix, process.execPath, ...FLAGS, main, 'poll'];
  const running = startProgram(words, sandboxOn(databaseUrl, { ...ENVIRONMENT, ...env }));
  await running.log(/the poller delivers/);
  return {
    pid: running.pid,
    get lines() {
      return running.logged().split('\n').slice(0, -1);
    },
    end: async (signal) => (await running.end(signal)).code,
  };
}

/** Registers `url` with a secret that poller processes can open. */
export async function insertEncryptedWebhook(sql: Sql, partnerId: string, url: string): Promise<TestWebhook> {
  const secret = newSecret();
  const [{ id }] = await sql<[{ id: string }]>`select uuidv7() as id`;
  await sql`
    insert into webhooks (id, partner_id, url, events, encrypted_secret)
    values (${id}, ${partnerId}, ${url}, '{desembolso.falhou}', ${createVault([SANDBOX_KEY]).encrypt(id, secret)})`;
  return { id, secret };
}
