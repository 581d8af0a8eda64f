import { readServerFault, type ServerFault } from '../../db/known-server.ts';
import { pendingMigrations } from '../../db/migrations/pending-migrations.ts';
import type { Pool, Tx } from '../../db/pool.ts';

/**
 * For `/readyz`: null when the process is not about to stop and the database answers, takes writes, is migrated and lies on
 * the server that it knows; else what is missing, in Portuguese. Those who ask while a look is under way share it, because
 * anybody may ask. Throws as the pool does.
 */
export function readiness(pool: Pool, leaving?: AbortSignal): () => Promise<string | null> {
  let looking: Promise<string | null> | null = null;
  return async () => {
    if (leaving?.aborted === true) return 'este processo está encerrando';
    looking ??= pool.run((sql) => findMissing(sql, pool.schema)).finally(() => (looking = null));
    return looking;
  };
}

async function findMissing(sql: Tx, schema: string): Promise<string | null> {
  const [server] = await sql<[{ isStandby: boolean; isReadOnly: boolean }]>`
    select pg_is_in_recovery() as "isStandby", current_setting('default_transaction_read_only')::boolean as "isReadOnly"`;
  if (server.isStandby) return 'o banco de dados só aceita leituras: é uma réplica';
  if (server.isReadOnly) return 'o banco de dados só aceita leituras: default_transaction_read_only está ligado';
  const pending = await pendingMigrations(sql, schema);
  if (pending > 0) return migrationsMissing(pending);
  const fault = await readServerFault(sql);
  return fault === null ? null : STRANGE[fault];
}

const STRANGE: Readonly<Record<ServerFault, string>> = {
  copy: 'o banco de dados é uma cópia, vinda de outro servidor: rode o comando adopt se ele deve continuar daqui',
  behind: 'o banco de dados voltou no tempo: rode o comando adopt se ele deve continuar daqui',
};

function migrationsMissing(pending: number): string {
  return `${pending === 1 ? 'falta 1 migração' : `faltam ${pending} migrações`}: rode o comando migrate`;
}
