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
import { idForm } from '../frame/forms.ts';
import type { Guard } from '../frame/guard.ts';
import { isAllowed, LOANS } from '../frame/nav.ts';
import type { Page } from '../frame/page.ts';
import { badge, code, copyable, dim, fact, moment, notice, plainList, shortId } from '../frame/parts.ts';
import { statusBadge, table } from '../frame/parts.ts';
import { readNames } from '../webhooks/list.ts';
import { diagram } from './diagram.ts';

const PATH = '/painel/emprestimos';
const SHOWN = 50;

export async function readRecent({ api }: Pick<Visit, 'api'>, limit: number): Promise<readonly RecentLoan[]> {
  return (await api.read<z.infer<typeof recentLoans>>('/v1/emprestimos', { limite: String(limit) })).itens;
}

/** The part of a loan's history around a version. */
export function wayTo(version: number): { readonly desde_versao?: string } {
  return version > SHOWN ? { desde_versao: String(version - SHOWN) } : {};
}

/** To the loan itself for who may read loans, else to its deliveries. */
export function loanPath({ session }: Visit, id: string): string {
  return isAllowed(session.identity, LOANS) ? `${PATH}/${id}` : `/painel/entregas?emprestimo_id=${id}`;
}

interface OfLoan {
  readonly emprestimo_id: string | null;
  readonly versao_emprestimo: number | null;
}

/** The loan of an event or a delivery, where it has one. */
export function loanFact(visit: Visit, { emprestimo_id: loan, versao_emprestimo: version }: OfLoan): Html | '' {
  if (loan === null) return '';
  const { t } = visit;
  const link = html`<a class="id" href="${loanPath(visit, loan)}">${loan}</a>`;
  return fact(t.deliveries.loan, html`${link} ${version === null ? '' : t.delivery.version(version)}`);
}

export function addLoanPages(guard: Guard): void {
  guard.show(PATH, LOANS, showLoans);
  guard.show(`${PATH}/:id`, LOANS, showLoan);
}

async function showLoans(visit: Visit): Promise<Page | Response> {
  const { c, t, api } = visit;
  const { id: sought } = visit.query('id');
  const id = uuid.safeParse(sought);
  if (id.success && (await api.ask<LoanResource>(`/v1/emprestimos/${id.data}`)).ok) {
    return c.redirect(`${PATH}/${id.data.toLowerCase()}`, 303);
  }
  const loans = await readRecent(visit, SHOWN);
  return {
    title: t.frame.loans,
    status: sought === '' ? 200 : 404,
    body: html`${idForm(PATH, t.deliveries.find, sought, t.words.search)}
      ${sought === '' ? '' : notice('failed', t.loans.notFound)}
      <h2>${t.loans.recent}</h2>
      ${loanTable(visit, loans)}`,
  };
}

function loanTable(visit: Visit, loans: readonly RecentLoan[]): Html {
  const { t } = visit;
  return table(
    t.loans.recent,
    [t.loans.number, t.deliveries.status, t.loans.lastEvent, { number: t.loans.version }, t.loans.at],
    loans.map(({ id, numero, status, versao, ultimo_evento, atualizado_em }) => [
      html`<a href="${PATH}/${id}">${numero}</a>`,
      badge(t.loanStatus[status]),
      code(ultimo_evento),
      versao,
      moment(visit, atualizado_em),
    ]),
    { empty: t.loans.empty },
  );
}

async function showLoan(visit: Visit): Promise<Page> {
  const { c, t, api, id } = visit;
  const loan = await api.read<LoanResource>(`/v1/emprestimos/${id}`);
  const asked = Number(c.req.query('versao') ?? loan.versao);
  const version = Number.isSafeInteger(asked) && asked >= 1 && asked <= loan.versao ? asked : loan.versao;
  const [then, { itens: steps }, names] = await Promise.all([
    version === loan.versao ? loan : api.read<LoanResource>(`/v1/emprestimos/${id}`, { versao: String(version) }),
    api.read<LoanHistory>(`/v1/emprestimos/${id}/historico`, wayTo(version)),
    readNames(visit),
  ]);
  const upTo = steps.filter(({ versao }) => versao <= version);
  return {
    title: t.loans.one(loan.numero),
    body: html`${slider(visit, loan, version)}
      <section id="estado" aria-live="polite">
        ${diagram(t, upTo)} ${facts(visit, then)}
        <h2>${t.frame.events}</h2>
        ${eventList(visit, steps, version, names)}
        <h2>${t.loans.asRead(version)}</h2>
        ${copyable(t, 'resource', t.loans.asRead(version), JSON.stringify(then, null, 2))}
      </section>`,
  };
}

/** Every move of the slider redraws the state; without a script the button does. */
function slider({ t }: Visit, { id, versao }: LoanResource, version: number): Html {
  const path = `${PATH}/${id}`;
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
    ${fact(t.deliveries.status, badge(t.loanStatus[loan.status]))}
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
          <span class="number">v${versao}</span> ${code(evento)} ${moment(visit, ocorrido_em)}
          ${status === null ? '' : badge(t.loanStatus[status])} ${entregas.length === 0 ? dim(t.loans.noDelivery) : ''}
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
