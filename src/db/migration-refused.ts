/** Why a database was not migrated, in PostgreSQL's words, and what to do about it. */
import type { Installation } from './installation.ts';

/** Nothing has changed in the database. */
export class MigrationRefused extends Error {
  override name = 'MigrationRefused';

  constructor(reason: string, advice: string, cause?: unknown) {
    super(`${reason}. Nothing has changed. What to do: ${advice}`, { cause });
  }
}

interface ServerError {
  readonly code?: string;
  readonly message?: string;
  readonly detail?: string;
  readonly hint?: string;
  readonly file?: string;
}

/** The error of a statement as a {@link MigrationRefused}; faults of the connection and refusals as they are. */
export function reasonOf(error: unknown, installation: Installation): unknown {
  const { code, message, detail, hint, file } = error as ServerError;
  if (error instanceof MigrationRefused || code === undefined || !/^[0-9A-Z]{5}$/.test(code)) return error;
  const where = file === undefined ? '' : `${file}: `;
  const reason = [`${where}${message} (SQLSTATE ${code})`, detail].filter(Boolean).join('; ');
  return new MigrationRefused(reason, hint ?? adviceFor(code, installation), error);
}

function adviceFor(code: string, { schema, rolePrefix }: Installation): string {
  if (code === '42501') {
    return (
      `run it as a role that may create schemas in this database and roles, or let an administrator make them first: ` +
      `create role ${rolePrefix}_owner nologin; the same for ${rolePrefix}_app, ${rolePrefix}_poller, ${rolePrefix}_core, ` +
      `${rolePrefix}_auditor, ${rolePrefix}_auditor_cpf; grant ${rolePrefix}_owner to <the role that migrates>; ` +
      `create schema ${schema} authorization ${rolePrefix}_owner; ` +
      `create schema ${schema}_auditoria authorization ${rolePrefix}_owner`
    );
  }
  if (code.startsWith('42'))
    return `is the schema "${schema}" somebody else's? Then set DATABASE_SCHEMA to another name`;
  if (code === '53100') return 'free some disk space, then try again';
  return 'mend that, then try again';
}
