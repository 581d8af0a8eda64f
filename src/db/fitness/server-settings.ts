/** What the server must be to hold the log: its version, and the settings that commits depend on. */
import { fault, type Finding, ok, refuse, stop, warning } from './finding.ts';
import type { Tx } from '../sql.ts';

const OLDEST_SERVER = 180_000;

interface Server {
  readonly number: number;
  readonly version: string;
  readonly fsync: string;
  readonly synchronousCommit: string;
  readonly fullPageWrites: string;
  readonly autovacuum: string;
  readonly encoding: string;
  readonly mayLoseData: boolean;
}

/**
 * An acknowledged commit must not be lost. remote_write is accepted: the commit is flushed here and handed to the standby's system, so
 * either machine alone may fail. A server whose data may be lost, such as a test's, says so by `carteiro.allow_fsync_off = on` beside
 * `fsync = off`.
 */
export async function checkSettings(sql: Tx): Promise<readonly Finding[]> {
  const [server] = await sql<[Server]>`
    select current_setting('server_version_num')::int as number, current_setting('server_version') as version,
           current_setting('fsync') as fsync, current_setting('synchronous_commit') as "synchronousCommit",
           current_setting('full_page_writes') as "fullPageWrites", current_setting('autovacuum') as autovacuum,
           current_setting('server_encoding') as encoding,
           current_setting('carteiro.allow_fsync_off', true) is not distinct from 'on' as "mayLoseData"`;
  const { synchronousCommit, fsync, fullPageWrites, autovacuum, encoding } = server;
  const losesCommits = synchronousCommit === 'off' || synchronousCommit === 'local';
  const when = synchronousCommit === 'off' ? '' : ' when a standby takes over';
  return [
    server.number < OLDEST_SERVER
      ? stop('version', `PostgreSQL ${server.version} is too old`, 'Carteiro needs PostgreSQL 18')
      : ok('version', `PostgreSQL ${server.version}`),
    losesCommits
      ? stop(
          'synchronous_commit',
          `synchronous_commit = ${synchronousCommit} loses acknowledged commits${when}`,
          'set it to on and start again',
        )
      : ok('synchronous_commit', synchronousCommit),
    fsync === 'on' || server.mayLoseData
      ? ok('fsync', fsync === 'on' ? 'on' : 'off, and the configuration says that data may be lost')
      : stop(
          'fsync',
          'fsync = off loses acknowledged commits when the machine crashes',
          'set it to on and start again',
        ),
    fullPageWrites === 'on'
      ? ok('full_page_writes', 'on')
      : warning(
          'full_page_writes',
          'full_page_writes = off: a crash destroys pages',
          'set it to on, unless the storage writes each 8 KiB page whole, as ZFS does',
        ),
    autovacuum === 'on'
      ? ok('autovacuum', 'on')
      : fault('autovacuum', 'autovacuum = off', 'set it to on: without it claims slow down within minutes'),
    encoding === 'UTF8'
      ? ok('encoding', 'UTF8')
      : fault(
          'encoding',
          `the encoding is ${encoding}`,
          'make the database anew with UTF8: envelopes and seals need it',
        ),
  ];
}

export async function refuseUnfit(sql: Tx): Promise<void> {
  refuse(await checkSettings(sql));
}
