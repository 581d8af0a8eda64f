import { type Installation, ROLES } from '../installation.ts';

const UNCHANGED = 'Nothing has changed';
const APPLIED_BEFORE = 'The files before it are applied, and the system that runs goes on';

/** Why a database was not migrated, in PostgreSQL's words, with advice. Nothing has changed, or what `state` says. */
export class MigrationRefused extends Error {
  override name = 'MigrationRefused';

  constructor(reason: string, advice: string, cause?: unknown, state = UNCHANGED) {
    super(`${reason}. ${state}. What to do: ${advice}`, { cause });
  }
}

interface ServerError {
  readonly code?: string;
  readonly message?: string;
  readonly detail?: string;
  readonly hint?: string;
  readonly migration?: string;
  /** True for a file that stands outside a transaction. */
  readonly isOutside?: boolean;
}

/** A statement's error as a {@link MigrationRefused}; connection faults and refusals unchanged. */
export function reasonOf(error: unknown, installation: Installation): unknown {
  const { code, message, detail, hint, migration, isOutside = false } = error as ServerError;
  if (error instanceof MigrationRefused || code === undefined || !/^[0-9A-Z]{5}$/.test(code)) return error;
  const where = migration === undefined ? '' : `${migration}: `;
  const reason = [`${where}${message} (SQLSTATE ${code})`, detail?.replace(/\.$/, '')].filter(Boolean).join('; ');
  return new MigrationRefused(
    reason,
    (code === '42501' ? undefined : hint) ?? adviceFor(code, installation),
    error,
    isOutside ? APPLIED_BEFORE : UNCHANGED,
  );
}

/** SQL after which a role without any rights can migrate. */
export function preparationFor({ schema, rolePrefix }: Installation): string {
  const owner = `${rolePrefix}_owner`;
  return [
    ...ROLES.map((role) => `create role ${rolePrefix}_${role} nologin`),
    `grant ${owner} to <the role that migrates>`,
    `create schema "${schema}" authorization ${owner}`,
    `create schema "${schema}_auditoria" authorization ${owner}`,
  ].join('; ');
}

function adviceFor(code: string, { schema, rolePrefix }: Installation): string {
  if (code === '42501') {
    return (
      `run it as a role that may create schemas in this database and roles, or let an administrator run what of this is ` +
      `not there yet: ${preparationFor({ schema, rolePrefix })}`
    );
  }
  if (code.startsWith('42'))
    return `is the schema "${schema}" somebody else's? Then set DATABASE_SCHEMA to another name`;
  if (code === '53100') return 'free some disk space, then try again';
  if (code === '25006') return 'lead DATABASE_URL to the primary, or end the read-only mode';
  return 'mend that, then try again';
}
