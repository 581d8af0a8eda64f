import { html } from 'hono/html';
import type { Html, Visit } from '../env.ts';

export function auditTabs({ c, t }: Visit): Html {
  const tabs = [
    ['/painel/auditoria', t.deliveries.attempts],
    ['/painel/auditoria/balanco', t.auditor.balance],
    ['/painel/auditoria/selos', t.auditor.seals],
  ] as const;
  return html`<nav class="actions" aria-label="${t.frame.audit}">
    ${tabs.map(
      ([path, label]) =>
        html`<a class="button" href="${path}" ${c.req.path === path ? html`aria-current="page"` : ''}>${label}</a>`,
    )}
  </nav>`;
}
