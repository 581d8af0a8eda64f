/** Where one installation of Carteiro lies in its server; several with different names coexist. */
export interface Installation {
  /** Schema of all tables, types and functions; `<schema>_auditoria` holds the auditors' views. */
  readonly schema: string;
  /** Roles belong to the whole server: `<rolePrefix>_owner`, `<rolePrefix>_app` and so on. */
  readonly rolePrefix: string;
}

export const DEFAULT_INSTALLATION: Installation = { schema: 'carteiro', rolePrefix: 'carteiro' };

/** Suffixes of the role names; drizzle/rights.sql has their rights. */
export const ROLES = ['owner', 'app', 'poller', 'core', 'migrator', 'auditor', 'auditor_cpf'] as const;

/** Nothing else: a table of the core's own is never taken for one of ours. pg_temp last, so that no temporary table is either. */
export function searchPathOf(schema: string): string {
  return `${schema}, pg_temp`;
}
