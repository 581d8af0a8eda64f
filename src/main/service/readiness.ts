import { readServerFault, type ServerFault } from '../../db/known-server.ts';
import { pendingMigrations } from '../../db/migrations/pending-migrations.ts';
import type { Pool } from '../../db/pool.ts';
import { areWritesRefused } from '../../db/refused-writes.ts';
import { hasCode, REFUSED_LOGIN } from '../../db/unavailable.ts';
import { readWriteFault, type WriteFault } from '../../db/write-faults.ts';

/**
 * For `/readyz`: null when the process is not stopping and the database answers, takes writes, is migrated and on its known server;
 * else what is missing, in Portuguese. One look is shared, because anybody may ask. Throws as the pool does where the database is
 * away and nothing more is known.
 */
export function readiness(pool: Pool, leaving?: AbortSignal): () => Promise<string | null> {
  let looking: Promise<string | null> | null = null;
  return async () => {
    if (leaving?.aborted === true) return 'este processo está encerrando';
    looking ??= findMissing(pool)
      .catch(explain)
      .finally(() => (looking = null));
    return looking;
  };
}

async function findMissing(pool: Pool): Promise<string | null> {
  const writeFault = await readWriteFault(pool);
  if (writeFault !== null) return REFUSED[writeFault];
  const pending = await pool.run((sql) => pendingMigrations(sql, pool.schema));
  if (pending > 0) {
    const missing = pending === 1 ? 'falta 1 migração' : `faltam ${pending} migrações`;
    return `${missing}: rode o comando migrate`;
  }
  const fault = await pool.run(readServerFault);
  return fault === null ? null : STRANGE[fault];
}

/** A server that went down because it had no room for its log, or that refuses this process, is not just silent. */
function explain(error: unknown): string {
  if (areWritesRefused()) return 'o banco de dados não responde, e antes não aceitou escritas: o disco está cheio';
  if (hasCode(error, REFUSED_LOGIN)) return 'o banco de dados recusa o usuário ou a senha de DATABASE_URL';
  throw error;
}

const REFUSED: Readonly<Record<WriteFault, string>> = {
  standby: 'o banco de dados só aceita leituras: é uma réplica',
  read_only: 'o banco de dados só aceita leituras: default_transaction_read_only está ligado',
  full: 'o banco de dados não aceita escritas: o disco está cheio',
};

const STRANGE: Readonly<Record<ServerFault, string>> = {
  copy: 'o banco de dados é uma cópia, vinda de outro servidor: rode o comando adopt se ele deve continuar daqui',
  behind: 'o banco de dados voltou no tempo: rode o comando adopt se ele deve continuar daqui',
};
