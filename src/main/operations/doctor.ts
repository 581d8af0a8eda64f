/** Runs the doctor's checks one after the other; each is independent. */
import { type Config, ConfigError } from '../../config.ts';
import type { Pool, Tx } from '../../db/pool.ts';
import { fault, type Finding, warning } from '../../db/fitness/finding.ts';
import { codeOf, DatabaseUnavailable, isOverloaded, PERMISSION_DENIED } from '../../db/unavailable.ts';
import { CHECKS } from './checks.ts';
import { checkDefinitions, checkEpoch, checkLogin, checkRoles, checkSecrets } from './doctor-installation.ts';
import { checkIssuer, checkNames, checkRegistry, checkStandby } from './doctor-outside.ts';
import { checkClock, checkSessions, checkSlots, checkTransactions, checkWrites } from './doctor-server.ts';
import {
  checkAnchors,
  checkCertificates,
  checkDisk,
  checkJobs,
  checkLags,
  checkProcesses,
  checkSealer,
  checkVerdict,
  checkWorkerKey,
} from './doctor-maintenance.ts';

/** Every finding, in the order of the looks. Throws when the database is out of reach. */
export async function examine(pool: Pool, config: Config): Promise<readonly Finding[]> {
  const found: Finding[] = [];
  const beside = async (about: string, look: () => Promise<readonly Finding[]>) => {
    found.push(...(await findingsOf(about, look)));
  };
  const at = (about: string, look: (sql: Tx) => Promise<readonly Finding[]>) => beside(about, () => pool.run(look));
  const check = (name: keyof typeof CHECKS) => at(name, (sql) => CHECKS[name](sql, { config, schema: pool.schema }));
  await check('server');
  await at('sessions', checkSessions);
  await beside('writes', () => checkWrites(pool));
  await at('clock', (sql) => checkClock(sql, Date.now));
  await at('transactions', checkTransactions);
  await at('slots', checkSlots);
  await beside('tokens', () => checkIssuer(config));
  await beside('registry', () => checkRegistry(config));
  await check('schema');
  await check('session');
  await check('migrations');
  const seen = found.find(({ about }) => about === 'migrations');
  // A login that may not look sees no fault at all: whether it is a member of any role tells why.
  if (seen?.verdict === 'warning') await at('login', (sql) => checkLogin(sql, config));
  if (seen?.verdict !== 'ok') return found;
  await at('epoch', checkEpoch);
  await at('roles', (sql) => checkRoles(sql, config));
  await beside('definitions', () => checkDefinitions(pool, config));
  await check('lease');
  await check('secrets');
  await at('secrets', (sql) => checkSecrets(sql, config));
  await at('processes', checkProcesses);
  await at('certificates', checkCertificates);
  await at('sealer', checkSealer);
  await at('verify', checkVerdict);
  await beside('workers', () => checkWorkerKey(config));
  await at('anchors', (sql) => checkAnchors(sql, config));
  await at('lags', checkLags);
  await at('upkeep', checkJobs);
  await at('disk', checkDisk);
  await beside('standby', () => checkStandby(config, pool));
  await at('dns', (sql) => checkNames(sql, config));
  return found;
}

/** The findings of `look`. A look that fails is a finding itself, and the others go on. Throws when the database is out of reach. */
async function findingsOf(about: string, look: () => Promise<readonly Finding[]>): Promise<readonly Finding[]> {
  try {
    return await look();
  } catch (error) {
    if (error instanceof DatabaseUnavailable && !isOverloaded(error)) throw error;
    const said = (isOverloaded(error) ? ((error as Error).cause ?? error) : error) as Error;
    const message = said instanceof ConfigError ? said.problems.join('; ') : said.message;
    if (codeOf(error) !== PERMISSION_DENIED)
      return [fault(about, message, 'mend what the sentence says, then run doctor again')];
    const advice = 'run doctor with a login that may, as a member of the owner';
    return [warning(about, `this login may not look: ${message}`, advice)];
  }
}
