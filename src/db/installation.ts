/** Where one installation of Carteiro lies in its server. Two of them with other names do not meet. */
export interface Installation {
  /** Holds every table, type and function; `<schema>_auditoria` beside it holds the auditors' views. */
  readonly schema: string;
  /** Roles belong to the whole server: `<rolePrefix>_owner`, `<rolePrefix>_app` and so on. */
  readonly rolePrefix: string;
}

export const DEFAULT_INSTALLATION: Installation = { schema: 'carteiro', rolePrefix: 'carteiro' };

/** Each behind the installation's prefix; drizzle/rights.sql says what each may do. */
export const ROLES = ['owner', 'app', 'poller', 'core', 'migrator', 'auditor', 'auditor_cpf'] as const;

/** Nothing before or behind it: a table of the core's own is never taken for one of ours. Last, so that no temporary table is. */
export function searchPathOf(schema: string): string {
  return `${schema}, pg_temp`;
}
