/** The PostgreSQL of one run: embedded, in a folder of its own, durable. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import postgres from 'postgres';
import { startEmbedded } from '../../../src/db/embedded/embedded.ts';
import type { Sql } from '../../../src/db/pool.ts';
import { silentLog } from '../../support/silent-log.ts';
import { makeTestFolder } from '../../support/test-folder.ts';

/** PostgreSQL's defaults but for these. Every contender works on the same server. */
const SETTINGS = {
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  autovacuum: 'on',
  shared_buffers: '512MB',
  min_wal_size: '4GB',
  max_wal_size: '4GB',
  max_connections: '200',
};

export interface Server {
  readonly postmaster: number;
  urlOf(database: string): string;
  /** Creates a database, empty or as a copy of another one, and returns its URL. */
  create(database: string, template?: string): Promise<string>;
  drop(database: string): Promise<void>;
  /** Runs `work` on a connection of its own to `database`. */
  on<T>(database: string, work: (sql: Sql) => Promise<T>): Promise<T>;
  /** Writes everything out, so that no contender pays for the one before it. */
  calm(): Promise<void>;
  /**
   * Makes the log's segments those of a server in service, which takes them up again: the commit that needs a new one
   * waits some 100 ms for it to be filled.
   */
  wear(): Promise<void>;
  remove(): Promise<void>;
}

/** Raw connections without deadlines. */
export function connect(url: string, max = 1): Sql {
  return postgres(url, {
    max,
    max_lifetime: null,
    onnotice: () => undefined,
    connection: { TimeZone: 'UTC', search_path: 'carteiro, public' },
  });
}

export async function startServer(settings: Readonly<Record<string, string>> = {}): Promise<Server> {
  const folder = await makeTestFolder();
  const embedded = await startEmbedded(folder.path, silentLog, {
    settings: { ...SETTINGS, ...settings },
    stop: 'immediate',
  });
  const pidFile = await readFile(join(folder.path, 'postgres/data/postmaster.pid'), 'utf8');
  const admin = connect(embedded.url);
  const urlOf = (database: string) => {
    const url = new URL(embedded.url);
    url.pathname = `/${database}`;
    return url.href;
  };
  return {
    postmaster: Number(pidFile.split('\n')[0]),
    urlOf,
    async create(database, template = 'template1') {
      await admin`create database ${admin(database)} template ${admin(template)} strategy file_copy`;
      return urlOf(database);
    },
    async drop(database) {
      await admin`drop database if exists ${admin(database)} with (force)`;
    },
    async on(database, work) {
      const sql = connect(urlOf(database));
      try {
        return await work(sql);
      } finally {
        await sql.end({ timeout: 5 });
      }
    },
    async calm() {
      await admin`checkpoint`;
    },
    async wear() {
      await admin`select pg_logical_emit_message(false, 'bench', repeat('x', 1000000)) from generate_series(1, 6000)`;
      await admin`checkpoint`;
    },
    async remove() {
      await admin.end({ timeout: 1 });
      await embedded.leave();
      await folder.remove();
    },
  };
}
