/**
 * Checks once per process, before anything starts, whether the database is fit. If it is out of reach, the process waits. If it
 * is unfit (not migrated, not durable, without rights, secrets under other keys, a copy), the process says so and exits with
 * code 1: a poller that waited for migrations would look healthy, and an orchestrator would stop the old pollers.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../../config.ts';
import { refuse } from '../../db/fitness/finding.ts';
import { readServerFault, UnknownServer, readNewest } from '../../db/known-server.ts';
import type { Pool, Tx } from '../../db/pool.ts';
import { readWriteFault } from '../../db/write-faults.ts';
import { UntrustedServer } from '../../db/connect/tls.ts';
import { logUnavailable } from '../../db/outage-log.ts';
import { codeOf, isUnavailable, PERMISSION_DENIED } from '../../db/unavailable.ts';
import type { Logger } from '../../log-lines.ts';
import { CHECKS, RIGHTS, type Role } from '../operations/checks.ts';
import { openPool } from './pools.ts';

const WAIT_MS = 500;
/** What a server answers to settings that it does not know, before anybody could ask for its version. */
const UNKNOWN_SETTING = '42704';
const NEEDED = "the server must be PostgreSQL 18, and know the parameters of the database's URL";
const COMPARE = 'compare what came after that with your other systems, run doctor, then take QUARANTINE away';
/** A typing mistake: it would be waited for until somebody looks. */
const NO_SUCH_DATABASE = '3D000';
/** A database that does not answer within this time is out of reach. */
const DEADLINE_MS = 4_000;

interface Watch {
  /** Called each time that the database is found out of reach. */
  readonly onAway?: () => void;
  /** What else must hold on a migrated database; throws when it does not. */
  readonly demand?: (sql: Tx) => Promise<void>;
  /** What to do on a copy, and on a database that went back in time: refuse it (the default), wait for `adopt`, or work. */
  readonly onUnknownServer?: 'refuse' | 'wait' | 'accept';
  /** False: a database that is out of reach is not waited for; that is thrown. */
  readonly isPatient?: boolean;
}

/** True once the database is reachable and fit; false when `signal` ended the waiting. Throws when it is not fit. */
export async function untilFit(
  pool: Pool,
  log: Logger,
  signal: AbortSignal,
  { onAway, demand, onUnknownServer = 'refuse', isPatient = true }: Watch = {},
): Promise<boolean> {
  let isReported = false;
  while (!signal.aborted) {
    try {
      for (const name of ['server', 'schema', 'migrations'] as const) {
        refuse(await pool.run((sql) => CHECKS[name](sql, pool)));
      }
      const fault = onUnknownServer === 'accept' ? null : await pool.run(readServerFault);
      if (fault !== null) throw new UnknownServer(fault);
      if (demand !== undefined) await pool.run(demand);
      return true;
    } catch (error) {
      if (error instanceof UnknownServer && onUnknownServer === 'wait') {
        if (!isReported) log.error({}, error.message);
        isReported = true;
        onAway?.();
        await sleep(WAIT_MS);
        continue;
      }
      if (codeOf(error) === UNKNOWN_SETTING)
        throw new Error(`${(error as Error).message}: ${NEEDED}`, { cause: error });
      refuseMisspelled(error);
      if (!isPatient || !isUnavailable(error) || error instanceof UntrustedServer) throw error;
      logUnavailable(log, error, 'waiting for the database');
      onAway?.();
      await sleep(WAIT_MS);
    }
  }
  return false;
}

function refuseMisspelled(error: unknown): void {
  const { cause } = error as { cause?: Error };
  if (codeOf(cause) !== NO_SUCH_DATABASE) return;
  throw new Error(`${cause?.message}: set DATABASE_URL to the one that migrate has made`, { cause });
}

/** Runs `work` once the database is fit. */
export async function whenFit(fit: Promise<boolean>, work: () => Promise<void>): Promise<void> {
  if (await fit) await work();
}

export type Fitness = ReturnType<typeof watchFitness>;

/** Looks, and looks again while the database is away, at all that a process of these roles needs. */
export function watchFitness(config: Config, databaseUrl: string, roles: readonly Role[], log: Logger) {
  const stopping = new AbortController();
  const away = Promise.withResolvers<void>();
  const pool = openPool(config, databaseUrl, 'start', DEADLINE_MS);
  const demand = async (sql: Tx): Promise<void> => {
    if (config.quarantine)
      throw new Error(`QUARANTINE is true, so nothing is served or delivered. ${await readNewest(sql)}: ${COMPARE}`);
    await refuseOtherRights(sql, config, roles);
    const asked = { config, schema: pool.schema };
    if (roles.includes('poller')) refuse(await CHECKS.lease(sql));
    const found = [...(await CHECKS.secrets(sql, asked)), ...(await CHECKS.server(sql))];
    refuse(found);
    for (const { about, verdict, found: what, advice } of found) {
      if (verdict !== 'ok') log[verdict === 'fault' ? 'error' : 'warn']({ about }, `${what}: ${advice}`);
    }
  };
  // The API alone stays to say so at /readyz.
  const onUnknownServer = roles.includes('poller') ? 'refuse' : 'wait';
  const watching = untilFit(pool, log, stopping.signal, { onAway: away.resolve, demand, onUnknownServer }).then(
    async (isFit) => {
      // A disk without room shows only in a write: from here on each look tries one, until it has room.
      if (isFit) await readWriteFault(pool, true).catch(() => undefined);
      return isFit;
    },
  );
  const fit = explaining(watching, pool, config, roles);
  const looked = Promise.race([away.promise, fit.then(() => undefined)]);
  for (const promise of [fit, looked]) promise.catch(() => undefined);
  return {
    /** Settles with the first look: rejects when the database is unfit, resolves when it is fit or away. */
    looked,
    /** True when it is fit, false when the watch was stopped before; rejects when it is unfit. */
    fit,
    async stop(): Promise<void> {
      stopping.abort();
      await fit.catch(() => undefined);
    },
  };
}

async function refuseOtherRights(sql: Tx, config: Config, roles: readonly Role[]): Promise<void> {
  for (const role of roles) {
    const { table, right } = RIGHTS[role];
    const [{ may, login }] = await sql<[{ may: boolean; login: string }]>`
      select has_table_privilege(${table}, ${right}) as may, quote_ident(current_user) as login`;
    if (!may) throw lacking(config, role, login);
  }
}

/** A login that cannot read the migrations has no rights, or nobody has migrated the schema that an administrator made. */
async function explaining(
  watching: Promise<boolean>,
  pool: Pool,
  config: Config,
  [role]: readonly Role[],
): Promise<boolean> {
  try {
    return await watching;
  } catch (error) {
    if (role === undefined || codeOf(error) !== PERMISSION_DENIED) throw error;
    const group = `${config.databaseRolePrefix}_${RIGHTS[role].group}`;
    const [{ login, isMember }] = await pool.run(
      (sql) => sql<[{ login: string; isMember: boolean }]>`
        select quote_ident(current_user) as login,
               exists (select from pg_roles where rolname = ${group} and pg_has_role(oid, 'usage')) as "isMember"`,
    );
    throw isMember
      ? new Error("migrations are pending: run the command 'migrate' first")
      : lacking(config, role, login);
  } finally {
    await pool.close(1);
  }
}

function lacking({ databaseRolePrefix: prefix }: Config, role: Role, login: string): Error {
  const { command, group } = RIGHTS[role];
  return new Error(
    `the role ${login} lacks the rights of \`${command}\`: log in with another one, or let an administrator run ` +
      `"grant ${prefix}_${group} to ${login}"`,
  );
}
