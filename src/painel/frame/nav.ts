/** Which pages there are, and for whom. */
import type { Scope } from '../../contract/statuses.ts';
import type { Identity } from '../../http/auth/auth.ts';
import type { Texts } from '../language/choose.ts';

/** Whom a token speaks for: a partner, or one of the lender's own people. */
type Reader = 'partner' | 'auditor' | 'operator';

/** Who may open a page: a kind of reader, with a scope. */
export interface Rule {
  readonly reader: Reader;
  readonly scope: Scope;
}

export interface Entry {
  readonly path: string;
  readonly label: (texts: Texts) => string;
  readonly rule: Rule;
  /** True: only where the sandbox is. */
  readonly isSandbox?: boolean;
}

const partner = (scope: Scope): Rule => ({ reader: 'partner', scope });
export const READ = partner('webhooks:read');
export const WRITE = partner('webhooks:write');

const ENTRIES: readonly Entry[] = [
  { path: '/painel/visao', label: (t) => t.frame.overview, rule: READ },
  { path: '/painel/entregas', label: (t) => t.frame.deliveries, rule: READ },
  { path: '/painel/webhooks', label: (t) => t.frame.webhooks, rule: READ },
  { path: '/painel/emprestimos', label: (t) => t.frame.loans, rule: partner('emprestimos:read') },
  { path: '/painel/eventos', label: (t) => t.frame.events, rule: READ },
  { path: '/painel/sandbox', label: (t) => t.frame.sandbox, rule: partner('sandbox'), isSandbox: true },
  { path: '/painel/auditoria', label: (t) => t.frame.audit, rule: { reader: 'auditor', scope: 'auditoria:read' } },
  { path: '/painel/operacao', label: (t) => t.frame.operation, rule: { reader: 'operator', scope: 'operador' } },
];

export function isAllowed({ partnerId, scopes }: Identity, { reader, scope }: Rule): boolean {
  return (
    (partnerId !== null) === (reader === 'partner') &&
    (scopes.has(scope) || (scope === 'webhooks:read' && scopes.has('webhooks:mascarado')))
  );
}

/** The pages that a token opens, in order. */
export function entriesFor(identity: Identity, sandbox: boolean): readonly Entry[] {
  return ENTRIES.filter(({ rule, isSandbox = false }) => isAllowed(identity, rule) && (sandbox || !isSandbox));
}
