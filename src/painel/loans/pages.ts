/** Loans: those that moved last, and one with its way, its events and what each of them had delivered. */
import type { Hono } from 'hono';
import { html } from 'hono/html';
import type { LoanResource } from '../../contract/resources/loan-resource.ts';
import { id as uuid } from '../../contract/values.ts';
import { requirePartner } from '../../http/auth/auth.ts';
import { type RecentLoan, readRecentLoans } from '../../log/recent-loans.ts';
import type { Html, PainelDeps, PainelEnv, Visit } from '../env.ts';
import type { Guard } from '../frame/guard.ts';
import { answerPage } from '../frame/page.ts';
import { moment, notice, table } from '../frame/parts.ts';
import { pathId } from '../path-id.ts';
import { showLoan } from './one.ts';

const READ = { reader: 'partner', scope: 'emprestimos:read' } as const;
const SHOWN = 50;

export function addLoanPages(app: Hono<PainelEnv>, deps: PainelDeps, guard: Guard): void {
  app.get(
    '/painel/emprestimos',
    guard.show(READ, (visit) => showLoans(visit, deps)),
  );
  app.get(
    '/painel/emprestimos/:id',
    guard.show(READ, (visit) => showLoan(visit, deps, pathId(visit.c))),
  );
}

async function showLoans(visit: Visit, { pool }: PainelDeps): Promise<Response> {
  const { c, t, api, session } = visit;
  const sought = c.req.query('id')?.trim() ?? '';
  const id = uuid.safeParse(sought);
  if (id.success && (await api.ask<LoanResource>(`/v1/emprestimos/${id.data}`)).ok) {
    return c.redirect(`/painel/emprestimos/${id.data.toLowerCase()}`, 303);
  }
  const loans = await readRecentLoans(pool, requirePartner(session.identity), SHOWN);
  return answerPage(c, {
    title: t.loans.title,
    status: sought === '' ? 200 : 404,
    body: html`<form class="inline" method="get" action="/painel/emprestimos" role="search">
        <label for="id">${t.loans.find}</label>
        <input id="id" name="id" value="${sought}" size="38" autocomplete="off" spellcheck="false" />
        <button>${t.words.search}</button>
      </form>
      ${sought === '' ? '' : notice('failed', t.loans.notFound)}
      <h2>${t.loans.recent}</h2>
      ${loans.length === 0 ? html`<p>${t.loans.empty}</p>` : loanTable(visit, loans)}`,
  });
}

function loanTable(visit: Visit, loans: readonly RecentLoan[]): Html {
  const { t } = visit;
  return table(
    t.loans.recent,
    [t.loans.number, t.loans.status, t.loans.lastEvent, { number: t.loans.version }, t.loans.at],
    loans.map(
      ({ id, number, status, lastEvent, version, at }) =>
        html`<tr>
          <td><a href="/painel/emprestimos/${id}">${number}</a></td>
          <td><span class="badge">${t.loanStatus[status]}</span></td>
          <td><code>${lastEvent}</code></td>
          <td class="number">${version}</td>
          <td>${moment(visit, at)}</td>
        </tr>`,
    ),
  );
}
