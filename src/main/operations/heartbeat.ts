/**
 * A poller's sign of life: a row that it writes every ten seconds, over the connections that it delivers with. So a
 * poller that cannot work (frozen, cut off, out of connections) goes silent like a dead one. A poller that stops
 * deletes its row. The row of a killed poller stays for a day.
 */
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { readMigrationFiles } from '../../db/migrations/migration-files.ts';
import type { Pool, Tx } from '../../db/pool.ts';
import { codeOf } from '../../db/unavailable.ts';
import type { Logger } from '../../log-lines.ts';
import { VERSION } from '../../version.ts';

const EVERY_MS = 10_000;
/** After three missed signs of life a poller counts as lost. */
export const LOST_AFTER_S = 30;

export interface Self {
  /** Unique among all pollers; it is on every attempt row. */
  readonly name: string;
  readonly host: string;
}

export interface HeartbeatDeps {
  readonly pool: Pool;
  readonly log: Logger;
  readonly self: Self;
}

/** Gives signs of life until `signal` is aborted, then says goodbye. Never rejects. */
export async function runHeartbeat({ pool, log, self }: HeartbeatDeps, signal: AbortSignal): Promise<void> {
  const schema = await digestOfMigrations();
  while (!signal.aborted) {
    try {
      await pool.run((sql) => beat(sql, self, schema));
    } catch (error) {
      log.debug({ code: codeOf(error) }, 'cannot give a sign of life');
    }
    await sleep(EVERY_MS, undefined, { signal }).catch(() => undefined);
  }
  await pool.run((sql) => sql`delete from pollers where name = ${self.name}`).catch(() => undefined);
}

/** Writes one sign of life, and deletes the rows of pollers that were silent for a day. */
export async function beat(sql: Tx, { name, host }: Self, schema: string): Promise<void> {
  await sql`
    with gone as (delete from pollers where seen_at < now() - interval '1 day' and name <> ${name})
    insert into pollers (name, host, version, schema) values (${name}, ${host}, ${VERSION}, ${schema})
    on conflict (name) do update set seen_at = now()`;
}

/** Twelve hex digits that two pollers share when they know the same tables and functions. */
async function digestOfMigrations(): Promise<string> {
  const digest = createHash('sha256');
  for (const { name, hash } of await readMigrationFiles()) digest.update(`${name} ${hash}\n`);
  return digest.digest('hex').slice(0, 12);
}
