/** Loans: those that moved last, and one with its way, its events and what each of them had delivered. */
import { html } from 'hono/html';
import type {
  LoanHistory,
  LoanResource,
  LoanStep,
  RecentLoan,
  recentLoans,
} from '../../contract/resources/loan-resource.ts';
import { id as uuid } from '../../contract/values.ts';
import type { z } from 'zod';
import type { Html, Visit } from '../env.ts';
import type { Guard } from '../frame/guard.ts';
import { answerPage } from '../frame/page.ts';
import { idForm } from '../frame/forms.ts';
import { copyable, fact, moment, notice, plainList, shortId, statusBadge, table } from '../frame/parts.ts';
import { pathId } from '../address.ts';
import { readNames } from '../webhooks/names.ts';
import { diagram } from './diagram.ts';

const READ = { reader: 'partner', scope: 'emprestimos:read' } as const;
const SHOWN = 50;

export async function readRecent({ api }: Pick<Visit, 'api'>, limit: number): Promise<readonly RecentLoan[]> {
  return (await api.read<z.infer<typeof recentLoans>>('/v1/emprestimos', { limite: String(limit) })).itens;
}

/** The part of a loan's history around a version. */
export function wayTo(version: number): { readonly desde_versao?: string } {
  return version > SHOWN ? { desde_versao: String(version - SHOWN) } : {};
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

async function showLoan(visit: Visit, id: string): Promise<Response> {
  const { c, t, api } = visit;
  const loan = await api.read<LoanResource>(`/v1/emprestimos/${id}`);
  const asked = Number(c.req.query('versao') ?? loan.versao);
  const version = Number.isSafeInteger(asked) && asked >= 1 && asked <= loan.versao ? asked : loan.versao;
  const [then, { itens: steps }, names] = await Promise.all([
    version === loan.versao ? loan : api.read<LoanResource>(`/v1/emprestimos/${id}`, { versao: String(version) }),
    api.read<LoanHistory>(`/v1/emprestimos/${id}/historico`, wayTo(version)),
    readNames(visit),
  ]);
  const upTo = steps.filter(({ versao }) => versao <= version);
  return answerPage(c, {
    title: t.loans.one(loan.numero),
    body: html`${slider(visit, loan, version)}
      <section id="estado" aria-live="polite">
        ${diagram(t, upTo)} ${facts(visit, then)}
        <h2>${t.frame.events}</h2>
        ${eventList(visit, steps, version, names)}
        <h2>${t.loans.asRead(version)}</h2>
        ${copyable(t, 'resource', t.loans.asRead(version), JSON.stringify(then, null, 2))}
      </section>`,
  });
}

/** Every move of the slider draws the state anew; without a script the button does. */
function slider({ t }: Visit, { id, versao }: LoanResource, version: number): Html {
  const path = `/painel/emprestimos/${id}`;
  return html`<form
    class="inline"
    method="get"
    action="${path}"
    hx-get="${path}"
    hx-trigger="input from:#versao delay:80ms, submit"
    hx-target="#estado"
    hx-select="#estado"
    hx-swap="outerHTML"
    hx-push-url="true"
  >
    <label for="versao">${t.loans.slider}</label>
    <input
      id="versao"
      name="versao"
      type="range"
      min="1"
      max="${versao}"
      value="${version}"
      data-shown-in="versao-now"
    />
    <output id="versao-now" for="versao">${version}</output>
    <button class="small">${t.frame.apply}</button>
  </form>`;
}

function facts(visit: Visit, loan: LoanResource): Html {
  const { t } = visit;
  return html`<dl class="facts">
    ${fact('Id', loan.id, 'id')} ${fact(t.loans.number, loan.numero)}
    ${fact(t.deliveries.status, html`<span class="badge">${t.loanStatus[loan.status]}</span>`)}
    ${fact(t.loans.nextAction, loan.proxima_acao === null ? '–' : t.nextAction[loan.proxima_acao])}
    ${fact(t.loans.documentsDimension, t.documents[loan.entrega_docs_registry?.situacao ?? 'nenhuma'])}
    ${fact(t.loans.at, moment(visit, loan.atualizado_em))}
    ${fact(t.frame.deliveries, html`<a href="/painel/entregas?emprestimo_id=${loan.id}">${t.loans.allDeliveries}</a>`)}
  </dl>`;
}

function eventList(
  visit: Visit,
  steps: readonly LoanStep[],
  version: number,
  names: ReadonlyMap<string, string>,
): Html {
  const { t } = visit;
  return html`<ol class="events">
    ${steps.map(
      ({ versao, evento, ocorrido_em, status, entregas }) =>
        html`<li class="${versao > version ? 'later' : ''}">
          <span class="number">v${versao}</span> <code>${evento}</code> ${moment(visit, ocorrido_em)}
          ${status === null ? '' : html`<span class="badge">${t.loanStatus[status]}</span>`}
          ${entregas.length === 0 ? html`<span class="dim">${t.loans.noDelivery}</span>` : ''}
          ${plainList(
            entregas.map(
              (one) =>
                html`${statusBadge(t, one.status)}
                  <a class="wrap" href="/painel/entregas/${one.id}"
                    >${evento} → ${names.get(one.webhook_id) ?? shortId(one.webhook_id)}</a
                  >`,
            ),
          )}
        </li>`,
    )}
  </ol>`;
}
