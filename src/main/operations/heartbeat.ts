/**
 * A sign of life of the API and of each poller: a row, written every ten seconds over the connections that it works with. So a
 * process that cannot work (frozen, cut off, out of connections) goes silent like a dead one. One that stops deletes its row; a
 * killed one's stays for a day.
 */
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../../config.ts';
import { apartS, SKEWED_S } from '../../db/clock-skew.ts';
import type { Pool, Tx } from '../../db/pool.ts';
import { codeOf } from '../../db/unavailable.ts';
import { readWriteFault } from '../../db/write-faults.ts';
import type { Logger } from '../../log-lines.ts';
import { endOfCertificate } from '../../settings/pem.ts';
import { VERSION } from '../../version.ts';
import { keyIdOf } from '../../webhooks/secrets.ts';
import type { Role } from './checks.ts';
import { whenFit } from '../service/fitness.ts';
import { readSecretsKeys } from '../service/key-files.ts';

export const EVERY_MS = 10_000;
/** Files of certificates are read that often. */
const CERTIFICATES_MS = 3_600_000;
const SKEWED =
  "the clocks of this host and of the database are apart: tokens that are good may be refused, and a POST's time is the database's";
/** After three missed signs of life a process counts as lost. */
const LOST_AFTER_S = 30;

/** Beats between two tries to write: a sign of life needs no new page, so an API that only reads would not see a full disk. */
const ROOM_EVERY = 6;

export interface Self {
  /** Unique among all processes; a poller's is on every attempt row. */
  readonly name: string;
  readonly role: Role;
  readonly host: string;
  /** The public names of the keys of `SECRETS_KEY`, the one that encrypts first. */
  readonly keys: readonly string[];
  /** Until when the certificates that it shows are good. */
  readonly certificates?: CertificateEnds;
}

interface HeartbeatDeps {
  readonly pool: Pool;
  readonly log: Logger;
  readonly self: Self;
  readonly readCertificates: () => Promise<CertificateEnds>;
}

/** Gives signs of life of this process over `pool` once the database is fit, until it is stopped. */
export async function startHeartbeat(
  role: Role,
  { config, log, fit }: { readonly config: Config; readonly log: Logger; readonly fit: Promise<boolean> },
  pool: Pool,
): Promise<{ readonly self: Self; stop(): Promise<void> }> {
  const host = hostname();
  const name = `${host}-${process.pid}-${randomBytes(3).toString('hex')}`;
  const self = { name, role, host, keys: (await readSecretsKeys(config)).map(keyIdOf) };
  const living = new AbortController();
  const deps = { pool, log, self, readCertificates: () => readCertificateEnds(config) };
  const beating = whenFit(fit, () => runHeartbeat(deps, living.signal)).catch(() => undefined);
  return {
    self,
    stop() {
      living.abort();
      return beating;
    },
  };
}

/** Gives signs of life until `signal` is aborted, then says goodbye. Never rejects. */
export async function runHeartbeat(
  { pool, log, self, readCertificates }: HeartbeatDeps,
  signal: AbortSignal,
): Promise<void> {
  let isSkewed = false;
  let certificates: CertificateEnds = {};
  let readAtMs = -Infinity;
  for (let round = 0; !signal.aborted; round += 1) {
    try {
      if (performance.now() - readAtMs >= CERTIFICATES_MS) {
        certificates = await readCertificates();
        readAtMs = performance.now();
      }
      if (self.role === 'api' && round % ROOM_EVERY === 0) await readWriteFault(pool, true);
      const skewS = await pool.run((sql) => heartbeat(sql, { ...self, certificates }));
      if (skewS > SKEWED_S && !isSkewed) log.error({ skew_s: Math.round(skewS) }, SKEWED);
      isSkewed = skewS > SKEWED_S;
    } catch (error) {
      log.debug({ code: codeOf(error) }, 'cannot give a sign of life');
    }
    await sleep(EVERY_MS, undefined, { signal }).catch(() => undefined);
  }
  await pool.run((sql) => sql`delete from processes where name = ${self.name}`).catch(() => undefined);
}

/** Writes a sign of life, and deletes rows silent for a day. Returns how many seconds this clock and the database's differ. */
export async function heartbeat(
  sql: Tx,
  { name, role, host, keys, certificates = {} }: Self,
  clockMs = Date.now,
): Promise<number> {
  const beforeMs = clockMs();
  const [{ nowMs }] = await sql<[{ nowMs: number }]>`
    with gone as (delete from processes where seen_at < now() - interval '1 day' and name <> ${name})
    insert into processes (name, role, host, version, keys, certificates)
    values (${name}, ${role}, ${host}, ${VERSION}, ${keys as string[]}, ${JSON.stringify(certificates)}::text::jsonb)
    on conflict (name) do update set seen_at = now(), certificates = excluded.certificates
    returning (extract(epoch from clock_timestamp()) * 1000)::float8 as "nowMs"`;
  return apartS(beforeMs, nowMs, clockMs());
}

export interface Seen {
  readonly name: string;
  readonly role: Role;
  readonly version: string;
  readonly keys: readonly string[];
  /** Since its last sign of life. */
  readonly ageS: number;
  readonly isAlive: boolean;
}

/** The processes of the last hour, the newest sign of life first. */
export async function readProcesses(sql: Tx): Promise<readonly Seen[]> {
  return sql<Seen[]>`
    select name, role, version, keys, "ageS", "ageS" <= ${LOST_AFTER_S} as "isAlive"
    from (
      select *, greatest(extract(epoch from now() - seen_at), 0)::float8 as "ageS" from processes
      where seen_at > now() - interval '1 hour'
    ) seen
    order by "ageS", name
    limit 1000`;
}

/** By the setting that names the file, as ISO instants. */
export type CertificateEnds = Readonly<Record<string, string>>;

/** A file that cannot be read is left out: who uses it says so. */
export async function readCertificateEnds(config: Config): Promise<CertificateEnds> {
  const files = {
    EGRESS_CERT_FILE: config.egressCertFile,
    REGISTRY_CERT_FILE: config.bridge.certFile,
    ANCHOR_TIMESTAMP_CERT_FILE: config.anchorTimestampCertFile,
  };
  const ends: Record<string, string> = {};
  for (const [setting, file] of Object.entries(files)) {
    const end = file === null ? null : endOfCertificate(await readFile(file, 'utf8').catch(() => ''));
    if (end !== null) ends[setting] = end.toISOString();
  }
  return ends;
}
