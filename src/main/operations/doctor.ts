/** The doctor's round: one look after the other, each on its own. */
import type { Config } from '../../config.ts';
import type { Pool, Tx } from '../../db/pool.ts';
import { fault, type Finding, warning } from '../../db/fitness/finding.ts';
import { codeOf, DatabaseUnavailable, isOverloaded, PERMISSION_DENIED } from '../../db/unavailable.ts';
import { CHECKS } from './checks.ts';
import { lookAtDefinitions, lookAtEpoch, lookAtLogin, lookAtRoles, lookAtSecrets } from './doctor-installation.ts';
import { lookAtIssuer, lookAtNames, lookAtRegistry, lookAtStandby } from './doctor-outside.ts';
import { lookAtClock, lookAtSessions, lookAtSlots, lookAtTransactions, lookAtWrites } from './doctor-server.ts';
import {
  lookAtAnchors,
  lookAtCertificates,
  lookAtDisk,
  lookAtJobs,
  lookAtLags,
  lookAtProcesses,
  lookAtSealer,
  lookAtVerdict,
  lookAtWorkerKey,
} from './doctor-upkeep.ts';

/** Every finding, in the order of the looks. Throws when the database is out of reach. */
export async function examine(pool: Pool, config: Config): Promise<readonly Finding[]> {
  const found: Finding[] = [];
  const beside = async (about: string, look: () => Promise<readonly Finding[]>) => {
    found.push(...(await findingsOf(about, look)));
  };
  const at = (about: string, look: (sql: Tx) => Promise<readonly Finding[]>) => beside(about, () => pool.run(look));
  const check = (name: keyof typeof CHECKS) => at(name, (sql) => CHECKS[name](sql, { config, schema: pool.schema }));
  await check('server');
  await at('sessions', lookAtSessions);
  await beside('writes', () => lookAtWrites(pool));
  await at('clock', (sql) => lookAtClock(sql, Date.now));
  await at('transactions', lookAtTransactions);
  await at('slots', lookAtSlots);
  await beside('tokens', () => lookAtIssuer(config));
  await beside('registry', () => lookAtRegistry(config));
  await check('schema');
  await check('session');
  await check('migrations');
  const seen = found.find(({ about }) => about === 'migrations');
  // A login that may not look sees no fault at all: whether it is a member of any role tells why.
  if (seen?.verdict === 'warning') await at('login', (sql) => lookAtLogin(sql, config));
  if (seen?.verdict !== 'ok') return found;
  await at('epoch', lookAtEpoch);
  await at('roles', (sql) => lookAtRoles(sql, config));
  await beside('definitions', () => lookAtDefinitions(pool, config));
  await check('lease');
  await check('secrets');
  await at('secrets', (sql) => lookAtSecrets(sql, config));
  await at('processes', lookAtProcesses);
  await at('certificates', lookAtCertificates);
  await at('sealer', lookAtSealer);
  await at('verify', lookAtVerdict);
  await beside('workers', () => lookAtWorkerKey(config));
  await at('anchors', (sql) => lookAtAnchors(sql, config));
  await at('lags', lookAtLags);
  await at('upkeep', lookAtJobs);
  await at('disk', lookAtDisk);
  await beside('standby', () => lookAtStandby(config, pool));
  await at('dns', (sql) => lookAtNames(sql, config));
  return found;
}

/** The findings of `look`. A look that fails is a finding itself, and the others go on. Throws when the database is out of reach. */
async function findingsOf(about: string, look: () => Promise<readonly Finding[]>): Promise<readonly Finding[]> {
  try {
    return await look();
  } catch (error) {
    if (error instanceof DatabaseUnavailable && !isOverloaded(error)) throw error;
    const { message } = (isOverloaded(error) ? ((error as Error).cause ?? error) : error) as Error;
    if (codeOf(error) !== PERMISSION_DENIED)
      return [fault(about, message, 'mend what the sentence says, then run doctor again')];
    const advice = 'run doctor with a login that may, as a member of the owner';
    return [warning(about, `this login may not look: ${message}`, advice)];
  }
}
