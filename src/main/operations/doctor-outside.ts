/** What lies outside: the issuer's key set, the registry, the standby, and the names of partners' endpoints. */
import type { Config } from '../../config.ts';
import type { Pool, Tx } from '../../db/pool.ts';
import { readLagS } from '../../db/reports.ts';
import { createResolver } from '../../delivery/target/names.ts';
import { createRemoteKeys } from '../../http/auth/keys-remote.ts';
import { createAdapter } from '../../registry/adapter.ts';
import { openPool } from '../service/pools.ts';
import { UNASKED } from '../service/registry.ts';
import { fault, type Finding, ok, warning, warningUnless } from '../../db/fitness/finding.ts';

/** As `lags`: reports of today miss what a reader would look for. */
const BEHIND_S = 60;
/** The newest names; enough to tell a resolver that is away from a name that is gone. */
const NAMES = 20;

export async function checkIssuer({ jwtJwksUrl }: Config): Promise<readonly Finding[]> {
  if (jwtJwksUrl === null)
    return [ok('tokens', 'the service’s own key, or none on this host: JWT_JWKS_URL is not set')];
  const keys = createRemoteKeys({ url: jwtJwksUrl });
  try {
    await keys.reload();
    return [ok('tokens', 'the key set of JWT_JWKS_URL was fetched and can be used')];
  } catch (error) {
    const { message, cause } = error as Error;
    const why = cause instanceof Error ? `${message}: ${cause.message}` : message;
    return [fault('tokens', why, 'api answers 503 to new tokens: see that this host reaches the issuer')];
  } finally {
    keys.close();
  }
}

export async function checkRegistry({ sandbox, bridge, loanCore }: Config): Promise<readonly Finding[]> {
  const { url, timeoutS } = bridge;
  if (url !== '') {
    const adapter = createAdapter(bridge);
    try {
      await adapter.probe(AbortSignal.timeout(timeoutS * 1_000));
      return [ok('registry', `${url} is in service`)];
    } catch (error) {
      const { message } = error as Error;
      const advice =
        'margin queries fail and registrations wait: see that this host reaches the bridge of REGISTRY_URL';
      return [fault('registry', `${url} is not in service: ${message}`, advice)];
    } finally {
      await adapter.close();
    }
  }
  if (sandbox) return [ok('registry', 'the simulated one: SANDBOX is true')];
  const advice = `${UNASKED[loanCore]}; set REGISTRY_URL to the bridge to the registry`;
  return [warning('registry', 'no registry is configured', advice)];
}

/** The reports of this release are read on a standby that keeps up. */
export async function checkStandby(config: Config, primary: Pool): Promise<readonly Finding[]> {
  if (config.readDatabaseUrl === null)
    return [ok('standby', 'reports are read on the primary: READ_DATABASE_URL is not set')];
  const standby = openPool(config, config.readDatabaseUrl, 'doctor', 15_000);
  try {
    const lagS = await readLagS(primary, standby);
    const found = `reports are read there, ${lagS} s behind the primary`;
    const advice = 'see pg_stat_replication on the primary, and what replay waits for';
    return [warningUnless(lagS <= BEHIND_S, 'standby', found, advice)];
  } catch (error) {
    const then = config.readDatabaseFallback ? 'reports weigh on the primary' : 'reports are 503';
    return [fault('standby', (error as Error).message, `${then}: see that this host reaches READ_DATABASE_URL`)];
  } finally {
    await standby.close();
  }
}

async function readNames(sql: Tx): Promise<readonly string[]> {
  const rows = await sql<{ url: string }[]>`
    select w.url from webhooks w join partners p on p.id = w.partner_id
    where w.active and p.active order by w.id desc limit 200`;
  const names = rows.map(({ url }) => new URL(url).hostname).filter((name) => !/^\[|^[\d.]+$/.test(name));
  return [...new Set(names)].slice(0, NAMES);
}

export async function checkNames(
  sql: Tx,
  { egressProxyUrl, egressProxyResolves }: Config,
): Promise<readonly Finding[]> {
  if (egressProxyUrl !== null && egressProxyResolves)
    return [ok('dns', 'names are resolved by the proxy of EGRESS_PROXY_URL: not looked at from here')];
  const names = await readNames(sql);
  if (names.length === 0) return [ok('dns', 'no webhook has a name to resolve')];
  const resolve = createResolver();
  const asked = await Promise.allSettled(names.map((name) => resolve(name)));
  const failed = names.filter((_, index) => {
    const answer = asked[index];
    return answer?.status === 'rejected' || answer?.value.length === 0;
  });
  if (failed.length === 0) return [ok('dns', `${names.length} names of webhooks resolve`)];
  const host = 'see /etc/resolv.conf of this host, and whether its DNS servers answer';
  if (failed.length === names.length) return [fault('dns', `none of ${names.length} names of webhooks resolves`, host)];
  const advice = 'tell those partners; their deliveries fail and are tried again';
  return [warning('dns', `${failed.join(', ')} do not resolve`, advice)];
}
