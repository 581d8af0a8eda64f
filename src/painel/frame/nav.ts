/** Which pages there are, and for whom. */
import type { Scope } from '../../contract/statuses.ts';
import type { Identity } from '../../http/auth/auth.ts';

/** Who may open a page: a partner, or one of the lender's own people, with a scope. */
export interface Rule {
  readonly reader: 'partner' | 'lender';
  readonly scope: Scope;
}

export const READ: Rule = { reader: 'partner', scope: 'webhooks:read' };
export const WRITE: Rule = { reader: 'partner', scope: 'webhooks:write' };
export const LOANS: Rule = { reader: 'partner', scope: 'emprestimos:read' };
export const PLAY: Rule = { reader: 'partner', scope: 'sandbox' };
export const AUDIT: Rule = { reader: 'lender', scope: 'auditoria:read' };
export const OPERATE: Rule = { reader: 'lender', scope: 'operador' };

/** Each with its name among the texts of the frame. */
const ENTRIES = [
  { path: '/painel/visao', label: 'overview', rule: READ },
  { path: '/painel/entregas', label: 'deliveries', rule: READ },
  { path: '/painel/webhooks', label: 'webhooks', rule: READ },
  { path: '/painel/emprestimos', label: 'loans', rule: LOANS },
  { path: '/painel/eventos', label: 'events', rule: READ },
  { path: '/painel/sandbox', label: 'sandbox', rule: PLAY },
  { path: '/painel/auditoria', label: 'audit', rule: AUDIT },
  { path: '/painel/operacao', label: 'operation', rule: OPERATE },
] as const;

export function isAllowed({ partnerId, scopes }: Identity, { reader, scope }: Rule): boolean {
  return (
    (partnerId !== null) === (reader === 'partner') &&
    (scopes.has(scope) || (scope === 'webhooks:read' && scopes.has('webhooks:mascarado')))
  );
}

/** The pages that a token opens, in order; that of the sandbox only where there is one. */
export function entriesFor(identity: Identity, sandbox: boolean) {
  return ENTRIES.filter(({ rule }) => isAllowed(identity, rule) && (sandbox || rule !== PLAY));
}
