/**
 * One PostgreSQL for the whole run and one migrated template database in it. `TEST_DATABASE_URL` (a role that may create
 * databases) wins, then a Docker engine, then the embedded server.
 */
import { randomBytes } from 'node:crypto';
import postgres from 'postgres';
import type { TestProject } from 'vitest/node';
import { migrate } from '../../src/db/migrations/migrate.ts';
import { startPrivateServer } from './private-server.ts';
import { silentLog } from './silent-log.ts';
import { sweepDeadRuns } from './test-folder.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** A database on the run's server from which others may be created. */
    adminUrl: string;
    /** Every database of this run has this name's beginning; the name itself is the template's. */
    templateDatabase: string;
  }
}

/**
 * What the planner knows, and what the server counts, must not hang on when a worker of autovacuum came by: one that
 * summarises a block range index is counted as having read the whole table (seen: 78,845 rows in the middle of a count).
 */
const SETTINGS = { autovacuum_naptime: '1d' };

interface Server {
  readonly adminUrl: string;
  stop(): Promise<void>;
}

/** Undefined without an engine (it says so in 0.25 s), and where the engine cannot get the image. */
async function startContainer(): Promise<Server | undefined> {
  const { GenericContainer, Wait, getContainerRuntimeClient } = await import('testcontainers');
  try {
    await getContainerRuntimeClient();
    const container = await new GenericContainer('postgres:18')
      .withEnvironment({ POSTGRES_PASSWORD: 'carteiro' })
      .withCommand([
        '-c',
        'fsync=off',
        '-c',
        'carteiro.allow_fsync_off=on',
        '-c',
        'max_connections=300',
        '-c',
        `autovacuum_naptime=${SETTINGS.autovacuum_naptime}`,
      ])
      .withTmpFs({ '/var/lib/postgresql': 'rw' })
      .withExposedPorts(5432)
      .withWaitStrategy(Wait.forLogMessage(/database system is ready to accept connections/, 2))
      .start();
    const adminUrl = `postgres://postgres:carteiro@${container.getHost()}:${container.getMappedPort(5432)}/postgres`;
    return { adminUrl, stop: async () => void (await container.stop()) };
  } catch {
    return undefined;
  }
}

async function startServer(): Promise<Server> {
  const given = process.env['TEST_DATABASE_URL'];
  if (given) return { adminUrl: given, stop: async () => undefined };
  await sweepDeadRuns();
  const container = await startContainer();
  if (container) return container;
  const server = await startPrivateServer(SETTINGS);
  return { adminUrl: server.url, stop: () => server.remove() };
}

async function dropDatabases(adminUrl: string, template: string): Promise<void> {
  const sql = postgres(adminUrl, { max: 1, onnotice: () => undefined });
  const rows = await sql<{ name: string }[]>`
    select datname as name from pg_database where starts_with(datname, ${template})`;
  for (const { name } of rows) await sql`drop database if exists ${sql(name)} with (force)`;
  await sql.end();
}

async function makeTemplate(adminUrl: string, template: string): Promise<void> {
  const sql = postgres(adminUrl, { max: 1, onnotice: () => undefined });
  await sql`create database ${sql(template)}`;
  await sql.end();
  const url = new URL(adminUrl);
  url.pathname = `/${template}`;
  await migrate(url.href, silentLog);
}

/** Keeps the server of a run that is over for whoever wants to look into its databases. */
async function untilInterrupted(adminUrl: string): Promise<void> {
  process.stderr.write(`the server is kept until Ctrl-C: psql '${adminUrl}' -l\n`);
  const { promise, resolve } = Promise.withResolvers<void>();
  process.once('SIGINT', resolve);
  // A signal's listener keeps no process alive.
  const alive = setInterval(() => undefined, 60_000);
  await promise;
  clearInterval(alive);
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await startServer();
  const template = `carteiro_test_${randomBytes(6).toString('hex')}`;
  const tearDown = async (): Promise<void> => {
    if (process.env['KEEP_TEST_DATABASE']) await untilInterrupted(server.adminUrl);
    if (process.env['TEST_DATABASE_URL']) await dropDatabases(server.adminUrl, template);
    await server.stop();
  };
  try {
    await makeTemplate(server.adminUrl, template);
  } catch (error) {
    await tearDown();
    throw error;
  }
  project.provide('adminUrl', server.adminUrl);
  project.provide('templateDatabase', template);
  return tearDown;
}
