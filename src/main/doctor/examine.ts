/** The doctor's round: one look after the other, each on its own. */
import type { Config } from '../../config.ts';
import type { Pool, Tx } from '../../db/pool.ts';
import { fault, type Finding, warning } from '../../db/fitness/finding.ts';
import { codeOf, isOverloaded } from '../../db/unavailable.ts';
import { CHECKS } from '../fitness/checks.ts';
import { lookAtDefinitions, lookAtEpoch, lookAtLogin, lookAtRoles, lookAtSecrets } from './installation.ts';
import { lookAtIssuer, lookAtNames, lookAtRegistry, lookAtStandby } from './outside.ts';
import { lookAtClock, lookAtSessions, lookAtTransactions, lookAtWrites } from './server.ts';
import { lookAtAnchors, lookAtDisk, lookAtJobs, lookAtLags, lookAtSealer, lookAtVerdict } from './upkeep.ts';

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
  const check = (name: keyof typeof CHECKS) => at(name, (sql) => CHECKS[name](sql, { config, schema: pool.schema }));
  await check('server');
  await at('sessions', lookAtSessions);
  found.push(...(await findingsOf('writes', () => lookAtWrites(pool), isLost)));
  await at('clock', (sql) => lookAtClock(sql, Date.now));
  await at('transactions', lookAtTransactions);
  found.push(...(await findingsOf('tokens', () => lookAtIssuer(config), isLost)));
  found.push(...(await findingsOf('registry', () => lookAtRegistry(config), isLost)));
  await check('schema');
  await check('migrations');
  const seen = found.find(({ about }) => about === 'migrations');
  // A login that may not look sees no fault at all: whether it is a member of any role tells why.
  if (seen?.verdict === 'warning') await at('login', (sql) => lookAtLogin(sql, config));
  if (seen?.verdict !== 'ok') return found;
  await at('epoch', lookAtEpoch);
  await at('roles', (sql) => lookAtRoles(sql, config));
  found.push(...(await findingsOf('definitions', () => lookAtDefinitions(pool, config), isLost)));
  await check('lease');
  await check('secrets');
  await at('secrets', (sql) => lookAtSecrets(sql, config));
  await at('sealer', lookAtSealer);
  await at('verify', lookAtVerdict);
  await at('anchors', (sql) => lookAtAnchors(sql, config));
  await at('lags', lookAtLags);
  await at('upkeep', lookAtJobs);
  await at('disk', lookAtDisk);
  found.push(...(await findingsOf('standby', () => lookAtStandby(config, pool), isLost)));
  await at('dns', (sql) => lookAtNames(sql, config));
  return found;
}

const PERMISSION_DENIED = '42501';

/** The findings of `look`. A look that fails is a finding itself, and the others go on. Throws when the database is out of reach. */
async function findingsOf(
  about: string,
  look: () => Promise<readonly Finding[]>,
  isLost: (error: unknown) => boolean,
): Promise<readonly Finding[]> {
  try {
    return await look();
  } catch (error) {
    if (isLost(error)) throw error;
    const { message } = (isOverloaded(error) ? ((error as Error).cause ?? error) : error) as Error;
    return codeOf(error) === PERMISSION_DENIED
      ? [
          warning(
            about,
            `this login may not look: ${message}`,
            'run doctor with a login that may, as a member of the owner',
          ),
        ]
      : [fault(about, message, 'mend what the sentence says, then run doctor again')];
  }
}
