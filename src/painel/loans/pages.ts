/** Loans: those that moved last, and one with its way, its events and what each of them had delivered. */
import { html } from 'hono/html';
import type { LoanResource, RecentLoan, recentLoans } from '../../contract/resources/loan-resource.ts';
import { id as uuid } from '../../contract/values.ts';
import type { z } from 'zod';
import type { Html, Visit } from '../env.ts';
import type { Guard } from '../frame/guard.ts';
import { answerPage } from '../frame/page.ts';
import { idForm } from '../frame/forms.ts';
import { moment, notice, table } from '../frame/parts.ts';
import { pathId } from '../address.ts';
import { showLoan } from './one.ts';

const READ = { reader: 'partner', scope: 'emprestimos:read' } as const;
const SHOWN = 50;

/** The loans that moved last. */
export async function readRecent({ api }: Pick<Visit, 'api'>, limit: number): Promise<readonly RecentLoan[]> {
  return (await api.read<z.infer<typeof recentLoans>>('/v1/emprestimos', { limite: String(limit) })).itens;
}

export function addLoanPages(guard: Guard): void {
  guard.show('/painel/emprestimos', READ, showLoans);
  guard.show('/painel/emprestimos/:id', READ, (visit) => showLoan(visit, pathId(visit.c)));
}

async function showLoans(visit: Visit): Promise<Response> {
  const { c, t, api } = visit;
  const sought = c.req.query('id')?.trim() ?? '';
  const id = uuid.safeParse(sought);
  if (id.success && (await api.ask<LoanResource>(`/v1/emprestimos/${id.data}`)).ok) {
    return c.redirect(`/painel/emprestimos/${id.data.toLowerCase()}`, 303);
  }
  const loans = await readRecent(visit, SHOWN);
  return answerPage(c, {
    title: t.frame.loans,
    status: sought === '' ? 200 : 404,
    body: html`${idForm('/painel/emprestimos', t.deliveries.find, sought, t.words.search)}
      ${sought === '' ? '' : notice('failed', t.loans.notFound)}
      <h2>${t.loans.recent}</h2>
      ${loans.length === 0 ? html`<p>${t.loans.empty}</p>` : loanTable(visit, loans)}`,
  });
}

function loanTable(visit: Visit, loans: readonly RecentLoan[]): Html {
  const { t } = visit;
  return table(
    t.loans.recent,
    [t.loans.number, t.deliveries.status, t.loans.lastEvent, { number: t.loans.version }, t.loans.at],
    loans.map(({ id, numero, status, versao, ultimo_evento, atualizado_em }) => [
      html`<a href="/painel/emprestimos/${id}">${numero}</a>`,
      html`<span class="badge">${t.loanStatus[status]}</span>`,
      html`<code>${ultimo_evento}</code>`,
      versao,
      moment(visit, atualizado_em),
    ]),
  );
}
