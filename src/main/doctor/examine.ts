/** The doctor's round: one look after the other, each on its own. */
import type { Config } from '../../config.ts';
import type { Pool, Tx } from '../../db/pool.ts';
import { type Finding, findingsOf } from './finding.ts';
import { lookAtEpoch, lookAtKeys, lookAtLogin, lookAtMigrations, lookAtRoles } from './installation.ts';
import { lookAtIssuer, lookAtNames, lookAtRegistry, readNames } from './outside.ts';
import { lookAtClock, lookAtServer, lookAtTransactions, lookAtWrites } from './server.ts';
import { lookAtAnchors, lookAtDisk, lookAtJobs, lookAtLags, lookAtSealer } from './upkeep.ts';

type Look = (sql: Tx) => Promise<readonly Finding[]>;

/** Every finding, in the order of the looks. Throws when `isLost` says so of an error. */
export async function examine(
  pool: Pool,
  config: Config,
  isLost: (error: unknown) => boolean,
): Promise<readonly Finding[]> {
  const found: Finding[] = [];
  const at = async (about: string, look: Look) => {
    found.push(...(await findingsOf(about, () => pool.run(look), isLost)));
  };
  await at('server', lookAtServer);
  found.push(...(await findingsOf('writes', () => lookAtWrites(pool), isLost)));
  await at('clock', (sql) => lookAtClock(sql, Date.now));
  await at('transactions', lookAtTransactions);
  found.push(...(await findingsOf('tokens', () => lookAtIssuer(config), isLost)));
  found.push(...(await findingsOf('registry', () => lookAtRegistry(config), isLost)));
  await at('migrations', (sql) => lookAtMigrations(sql, pool.schema));
  const seen = found.find(({ about }) => about === 'migrations');
  // A login that may not look sees no fault at all: whether it is a member of any role tells why.
  if (seen?.verdict === 'warning') await at('login', (sql) => lookAtLogin(sql, config));
  if (seen?.verdict !== 'ok') return found;
  await at('epoch', lookAtEpoch);
  await at('roles', (sql) => lookAtRoles(sql, config));
  await at('secrets', (sql) => lookAtKeys(sql, config));
  await at('sealer', lookAtSealer);
  await at('anchors', (sql) => lookAtAnchors(sql, config));
  await at('lags', lookAtLags);
  await at('upkeep', lookAtJobs);
  await at('disk', lookAtDisk);
  await at('dns', async (sql) => lookAtNames(await readNames(sql)));
  return found;
}
